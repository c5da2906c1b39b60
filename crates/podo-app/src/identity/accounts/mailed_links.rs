//! Links in e-mails. The token of a link is a MAC of the pending row's id, so the store needs only
//! its hash: the e-mail is composed from the key when it is sent.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::field;
use crate::identity::accounts::sign_up::{EMAIL_WINDOW, EMAILS_PER_ADDRESS, short_hash};
use crate::identity::keyring::Purpose;
use crate::identity::port::accounts::{CreateUser, PendingPurpose, RequestSignUp};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_domain::identity::{Email, Role};
use podo_domain::messaging::messages::Language;
use podo_domain::{Timestamp, UserId};
use uuid::Uuid;

const ID_BYTES: usize = 16;

/// A token that came back, with the row that it names. Only the store can tell whether it is valid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkToken {
    pub(crate) id: UserId,
    pub(crate) hash: [u8; 32],
}

/// The token of a row: its id and a MAC.
pub(crate) fn token_of(context: &AppContext, purpose: PendingPurpose, id: UserId) -> String {
    token_for(context, purpose.as_str().unwrap_or_default(), id.uuid())
}

/// The same for a row of another table.
pub(crate) fn token_for(context: &AppContext, purpose: &str, id: Uuid) -> String {
    let body = [purpose.as_bytes(), id.as_bytes().as_slice()].concat();
    let code = context.keyring.code(Purpose::Link, &body);
    URL_SAFE_NO_PAD.encode([id.as_bytes().as_slice(), &code].concat())
}

pub(crate) fn token_hash(context: &AppContext, token: &str) -> [u8; 32] {
    context.keyring.lookup("link", token)
}

/// Reads a token as it came back.
pub(crate) fn read_token(context: &AppContext, token: &str) -> Option<LinkToken> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (id, _) = bytes.split_first_chunk::<ID_BYTES>()?;
    let id = UserId::new(Uuid::from_bytes(*id));
    Some(LinkToken { id, hash: token_hash(context, token) })
}

/// The address that the e-mail shows. The token is in the fragment, which browsers send to no
/// server; without a configured address the e-mail shows the token alone, to be pasted.
pub(crate) fn link_of(context: &AppContext, purpose: PendingPurpose, id: UserId) -> String {
    let token = token_of(context, purpose, id);
    let page = match purpose {
        PendingPurpose::Invite => "/admin#/invitation/",
        PendingPurpose::Reset => "/#/reset/",
        PendingPurpose::SignUp | PendingPurpose::NewEmail | PendingPurpose::OldEmail => "/#/",
    };
    match context.rules.home.as_str() {
        "" => token,
        home => format!("{home}{page}{token}"),
    }
}

/// Limits the e-mails to one address.
pub(crate) async fn limit_emails(context: &AppContext, email: &Email) -> Result<()> {
    let key = format!("sign-up:{}", short_hash(context, email));
    context.take(&key, EMAILS_PER_ADDRESS, EMAIL_WINDOW).await
}

/// A pending row whose e-mail goes to this address. Its code is the hash of the link's token.
pub(crate) fn pending_link(
    context: &AppContext,
    purpose: PendingPurpose,
    email: &Email,
    language: Language,
    expires_at: Timestamp,
) -> RequestSignUp {
    let now = context.now();
    let id = UserId::new(context.rng.id(now));
    let encrypt = |column: &str, value: &str| {
        context.keyring.encrypt(&field(column, id), value, &*context.rng)
    };
    RequestSignUp {
        purpose,
        code: encrypt("code", ""),
        code_hash: token_hash(context, &token_of(context, purpose, id)),
        account: CreateUser {
            user: id,
            email: encrypt("email", email.as_str()),
            email_hash: context.keyring.lookup("email", email.as_str()),
            is_email_proven: false,
            password_hash: String::new(),
            name: encrypt("name", ""),
            phone: None,
            phone_hash: None,
            role: Role::User,
            consents: Vec::new(),
            now,
        },
        taken_by: None,
        proves: None,
        language,
        expires_at,
    }
}
