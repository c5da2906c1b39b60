//! Accounts for the fans: given from outside, or made like people make them.

use crate::caller::Caller;
use crate::client::Call;
use crate::tally::{Ending, Step};
use crate::wire::Login;
use serde_json::json;

/// Long and uncommon enough for the rules; it guards nothing but play money.
const PASSWORD: &str = "grapes-for-everyone";

/// A fan who is logged in.
#[derive(Clone, Debug)]
pub struct FanAccount {
    pub access_token: String,
}

/// Signs up and logs in. The address is new in every run: an old account may have reached its
/// limit of seats.
pub(crate) async fn make(caller: &Caller) -> Result<FanAccount, Ending> {
    let email = format!("fan-{:016x}-{}@load.example", caller.shared.run, caller.fan);
    let name = format!("Fan {}", caller.fan);
    let body = json!({ "email": email, "password": PASSWORD, "name": name });
    caller.call(Step::SignUp, Call::post("/api/auth/signup", &body)).await?;
    let body = json!({ "email": email, "password": PASSWORD });
    let answer = caller.call(Step::LogIn, Call::post("/api/auth/login", &body)).await?;
    let login: Login = caller.read(Step::LogIn, &answer)?;
    Ok(FanAccount { access_token: login.access_token })
}
