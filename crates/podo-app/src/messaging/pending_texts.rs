//! The texts of e-mails with a link, and about a change of address.

use crate::identity::port::accounts::PendingPurpose;
use podo_domain::messaging::messages::Language;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationText {
    pub subject: String,
    pub body: String,
}

/// Stands for the link in a stored text: the link itself is put in when the e-mail is sent.
pub const LINK: &str = "{link}";

/// The e-mail with a link, or about a change of address. `is_known` tells whether the address has
/// an account.
pub fn pending_text(
    purpose: PendingPurpose,
    is_known: bool,
    code: &str,
    language: Language,
) -> NotificationText {
    let (subject, body) = match language {
        Language::Ko => korean_pending(purpose, is_known, code),
        Language::En => english_pending(purpose, is_known, code),
    };
    NotificationText { subject: subject.to_owned(), body }
}

fn korean_pending(purpose: PendingPurpose, is_known: bool, code: &str) -> (&'static str, String) {
    match purpose {
        PendingPurpose::SignUp => (
            "가입 확인 코드",
            format!("코드 {code}을(를) 15분 안에 입력해 주세요. 본인이 아니라면 무시해도 돼요."),
        ),
        PendingPurpose::Invite => (
            "포도 운영팀에 초대받았어요",
            format!(
                "7일 안에 아래 링크를 열어 초대를 수락해 주세요. 링크는 한 번만 쓸 수 있어요.\n\n{LINK}"
            ),
        ),
        PendingPurpose::Reset if is_known => (
            "비밀번호를 다시 설정해 주세요",
            format!(
                "30분 안에 아래 링크를 열어 새 비밀번호를 정해 주세요. 링크는 한 번만 쓸 수 있고, \
                 바꾸면 모든 기기에서 로그아웃돼요. 요청하지 않았다면 무시해 주세요.\n\n{LINK}"
            ),
        ),
        PendingPurpose::Reset => (
            "이 이메일로 가입한 계정이 없어요",
            "비밀번호를 다시 설정하려는 요청이 있었지만 이 이메일로 가입한 계정이 없어요. \
             다른 이메일이나 소셜 로그인으로 가입했는지 확인해 주세요."
                .to_owned(),
        ),
        PendingPurpose::NewEmail if is_known => (
            "이메일 변경 확인 코드",
            format!("코드 {code}을(를) 15분 안에 입력하면 계정의 이메일이 이 주소로 바뀌어요."),
        ),
        PendingPurpose::NewEmail => (
            "이미 가입하셨어요",
            "다른 계정에서 이 이메일로 바꾸려는 요청이 있었지만 이미 계정이 있어요. \
             아무것도 하지 않아도 돼요."
                .to_owned(),
        ),
        PendingPurpose::OldEmail => (
            "계정의 이메일이 바뀌었어요",
            "계정의 이메일이 다른 주소로 바뀌었어요. 본인이 아니라면 고객센터에 바로 알려 주세요."
                .to_owned(),
        ),
    }
}

fn english_pending(purpose: PendingPurpose, is_known: bool, code: &str) -> (&'static str, String) {
    match purpose {
        PendingPurpose::SignUp => (
            "Your code for Podo",
            format!(
                "Enter {code} within 15 minutes. If you did not request it, ignore this message."
            ),
        ),
        PendingPurpose::Invite => (
            "You are invited to the team",
            format!("Open this link within seven days to accept. It works once.\n\n{LINK}"),
        ),
        PendingPurpose::Reset if is_known => (
            "Set a new password",
            format!(
                "Open this link within 30 minutes to set a new password. It works once, and you \
                 will be logged out everywhere. If you did not request it, ignore this \
                 message.\n\n{LINK}"
            ),
        ),
        PendingPurpose::Reset => (
            "No account with this address",
            "A new password was requested for this address, but it has no account. You may have \
             signed up with another address or through another service."
                .to_owned(),
        ),
        PendingPurpose::NewEmail if is_known => (
            "Confirm your new address",
            format!("Enter {code} within 15 minutes to change your account to this address."),
        ),
        PendingPurpose::NewEmail => (
            "You already have an account",
            "Another account asked to change to this address, which already has an account. You \
             do not have to do anything."
                .to_owned(),
        ),
        PendingPurpose::OldEmail => (
            "Your address was changed",
            "Your account now has another e-mail address. If that was not you, contact support \
             at once."
                .to_owned(),
        ),
    }
}
