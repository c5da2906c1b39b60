//! Accounts for the fans: given by the caller, or created by sign-up.

use crate::http::answers::Login;
use crate::http::caller::Caller;
use crate::http::client::Call;
use crate::report::stats::{Ending, Step};
use serde_json::json;

/// Long and uncommon enough for the password rules; it only protects test money.
const PASSWORD: &str = "grapes-for-everyone";

/// A logged-in fan.
#[derive(Clone, Debug)]
pub struct FanAccount {
    pub access_token: String,
}

/// Signs up and logs in. The address is new in every run, because an old account may have reached
/// its seat limit.
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
