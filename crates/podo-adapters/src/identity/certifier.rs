//! Identity verification through PortOne V2: `GET /identity-verifications/{id}`.

use crate::gateways::client::{Client, Sent};
use crate::gateways::protocol::{Call, Content, Reply, text};
use async_trait::async_trait;
use podo_app::identity::port::certifier::{Certifier, Person, Window};
use podo_app::operations::port::clock::{Clock, Rng};
use podo_app::{Error, Result};
use podo_domain::Refusal;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The secret is in plain text, so this has no `Debug`.
pub struct IdentitySettings {
    pub url: String,
    pub store_id: String,
    pub channel_key: String,
    pub secret: String,
}

const PATIENCE: Duration = Duration::from_secs(15);

pub struct PortOneIdentity {
    settings: IdentitySettings,
    client: Client,
    clock: Arc<dyn Clock>,
}

impl PortOneIdentity {
    pub fn new(
        settings: IdentitySettings,
        rng: Arc<dyn Rng>,
        clock: Arc<dyn Clock>,
    ) -> std::result::Result<PortOneIdentity, String> {
        let client = Client::new("portone identity", PATIENCE, rng)?;
        Ok(PortOneIdentity { settings, client, clock })
    }
}

#[async_trait]
impl Certifier for PortOneIdentity {
    fn window(&self) -> Window {
        Window {
            script_url: "https://cdn.portone.io/v2/browser-sdk.js".into(),
            store_id: self.settings.store_id.clone(),
            channel_key: self.settings.channel_key.clone(),
        }
    }

    async fn person(&self, id: &str) -> Result<Person> {
        let IdentitySettings { url, store_id, secret, .. } = &self.settings;
        let call = Call {
            url: format!("{url}/identity-verifications/{id}?storeId={store_id}"),
            headers: vec![("authorization", format!("PortOne {secret}"))],
            body: Content::None,
            may_repeat: true,
        };
        match self.client.send(&call, self.clock.now()).await {
            Sent::Answered(reply) => read(&reply, id),
            Sent::Lost | Sent::Nowhere => Err(Error::unavailable("PortOne does not answer")),
        }
    }
}

/// Reads a reply. Only the person's two identifiers are taken from it.
fn read(reply: &Reply, id: &str) -> Result<Person> {
    let value = reply.json();
    match (reply.status, text(&value, "status")) {
        (200, "VERIFIED") if text(&value, "id") == id => {
            let person = &value["verifiedCustomer"];
            Ok(Person { ci: name_in(person, "ci"), di: name_in(person, "di") })
        }
        (200 | 404, _) => Err(Refusal::IdentityUnproven.into()),
        (401 | 403, _) => {
            tracing::error!("PortOne rejected our secret for identity verification");
            Err(Error::unavailable("PortOne rejected our secret"))
        }
        (status, _) => Err(Error::unavailable(format!("PortOne answered {status}"))),
    }
}

fn name_in(person: &Value, field: &str) -> Option<String> {
    person[field].as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(status: u16, value: &Value) -> Result<Person> {
        read(&Reply { status, text: value.to_string() }, "1")
    }

    fn refused(heard: Result<Person>) -> bool {
        matches!(heard, Err(Error::Refused(Refusal::IdentityUnproven)))
    }

    #[test]
    fn only_a_verification_that_was_passed_names_a_person() {
        let customer = json!({ "name": "김포도", "ci": "c".repeat(88), "phoneNumber": "010" });
        let passed = json!({ "status": "VERIFIED", "id": "1", "verifiedCustomer": customer });
        let person = said(200, &passed).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((person.ci.map(|ci| ci.len()), person.di), (Some(88), None));
        let another = json!({ "status": "VERIFIED", "id": "2", "verifiedCustomer": customer });
        assert!(refused(said(200, &another)));
        for status in ["READY", "FAILED", ""] {
            let open = json!({ "status": status, "id": "1", "verifiedCustomer": customer });
            assert!(refused(said(200, &open)), "{status}");
        }
        assert!(refused(said(404, &json!({ "type": "IDENTITY_VERIFICATION_NOT_FOUND" }))));
        assert!(matches!(said(401, &Value::Null), Err(Error::Unavailable(_))));
        assert!(matches!(said(500, &Value::Null), Err(Error::Unavailable(_))));
    }
}
