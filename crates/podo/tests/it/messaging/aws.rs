//! Where the credentials for text messages come from on AWS, over HTTP as the real services speak it.

use crate::support::client::send;
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, until};
use podo_domain::Timestamp;
use podo_testbed::stand_ins::aws::{Aws, CLUSTER_ROLE};
use podo_testbed::stand_ins::post_box::Received;
use reqwest::Method;
use serde_json::json;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The credentials of the stand-in last two hours.
const LENGTH: Duration = Duration::from_secs(2 * 3_600);

#[expect(clippy::disallowed_methods, reason = "the stand-in judges by the machine's clock")]
fn aws() -> Aws {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let now = Timestamp::from_ms(i64::try_from(now.as_millis()).unwrap());
    Aws::start(&now.plus(LENGTH).to_string()).unwrap()
}

/// A server that sends text messages through the stand-in, and a show.
async fn world_on(aws: &Aws, settings: &[(&str, &str)]) -> (World, Show) {
    let url = aws.url();
    let sns = [("PODO_SNS_REGION", "ap-northeast-2"), ("PODO_SNS_URL", url.as_str())];
    let world = World::with(&[sns.as_slice(), settings].concat()).await;
    let show = world.show(Plan::default()).await;
    (world, show)
}

/// A fan who gets text messages buys this seat; returns the accepted message.
async fn message_of(aws: &Aws, world: &World, show: &Show, seat: u32) -> Received {
    let fan: Fan = world.fan_inside(show).await;
    let phone = format!("+1202555{:04}", 100 + seat);
    let changed = fan.api.call(Method::PATCH, "/api/users/me");
    send(changed.json(&json!({ "phone": phone }))).await.expect(200);
    let wishes = json!({ "language": "en", "email": false, "sms": true, "push": false });
    fan.api.put("/api/users/me/notifications", &wishes).await.expect(200);
    fan.buy(show, seat).await;
    until("the message is sent", async || {
        // A message that was put off is due again a few seconds later.
        world.clock.advance(Duration::from_millis(500));
        let is_it = |it: &&Received| it.body.contains(&phone[1..]);
        aws.received().iter().rfind(is_it).cloned()
    })
    .await
}

/// The key that signed a message.
fn key_of(message: &Received) -> String {
    let signed = message.header("authorization");
    let key = signed.split("Credential=").nth(1).and_then(|rest| rest.split('/').next());
    key.unwrap_or_else(|| panic!("{signed}")).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_on_eks_assumes_its_role_again_before_the_credentials_expire() {
    let (aws, folder) = (aws(), TempDir::with_prefix("podo-").unwrap());
    let file = folder.path().join("token");
    std::fs::write(&file, "web-identity-1\n").unwrap();
    let (url, path) = (aws.url(), file.display().to_string());
    let settings = [
        ("AWS_ENDPOINT_URL_STS", url.as_str()),
        ("AWS_ROLE_ARN", CLUSTER_ROLE),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", path.as_str()),
    ];
    let (world, show) = world_on(&aws, &settings).await;
    for seat in 0..2 {
        let message = message_of(&aws, &world, &show, seat).await;
        assert_eq!(key_of(&message), "ASIACLUSTER1");
        assert_eq!(message.header("x-amz-security-token"), "cluster-token-1");
    }
    // Kubernetes replaced the token.
    std::fs::write(&file, "web-identity-2\n").unwrap();
    world.clock.advance(LENGTH - Duration::from_secs(240));
    let message = message_of(&aws, &world, &show, 2).await;
    assert_eq!(key_of(&message), "ASIACLUSTER2");
    assert_eq!(message.header("x-amz-security-token"), "cluster-token-2");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ec2_instance_uses_its_role_and_renews_it() {
    let aws = aws();
    let url = aws.url();
    let settings = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", url.as_str())];
    let (world, show) = world_on(&aws, &settings).await;
    for seat in 0..2 {
        let message = message_of(&aws, &world, &show, seat).await;
        assert_eq!(key_of(&message), "ASIAINSTANCE1");
        assert_eq!(message.header("x-amz-security-token"), "instance-token-1");
    }
    let asked = || aws.received().iter().filter(|it| it.path == "/latest/api/token").count();
    assert_eq!(asked(), 1, "the credentials are kept while they are valid");
    world.clock.advance(LENGTH - Duration::from_secs(240));
    let message = message_of(&aws, &world, &show, 2).await;
    assert_eq!(key_of(&message), "ASIAINSTANCE2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chosen_profile_of_the_shared_files_signs_messages() {
    let (aws, folder) = (aws(), TempDir::with_prefix("podo-").unwrap());
    let file = folder.path().join("credentials");
    let keys = "[default]\naws_access_key_id = AKIDOTHER\naws_secret_access_key = s\n\
        [concert]\naws_access_key_id = AKIDCONCERT\naws_secret_access_key = s/1+=\n";
    std::fs::write(&file, keys).unwrap();
    let path = file.display().to_string();
    let settings = [("AWS_SHARED_CREDENTIALS_FILE", path.as_str()), ("AWS_PROFILE", "concert")];
    let (world, show) = world_on(&aws, &settings).await;
    let message = message_of(&aws, &world, &show, 0).await;
    assert_eq!(key_of(&message), "AKIDCONCERT");
    assert_eq!(message.header("x-amz-security-token"), "");
}
