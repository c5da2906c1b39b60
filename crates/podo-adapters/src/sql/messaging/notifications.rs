//! Notifications by external channels, and people's channel preferences.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::messaging::port::notifications::{
    ChannelKind, Device, Notice, NoticeContent, NoticeOutcome, NoticeView, NotificationSettings,
    Notifications,
};
use podo_domain::messaging::messages::Language;
use podo_domain::{DeviceId, Timestamp, UserId};

commands! {
    impl Notifications for SqlStore {
        write set_notification_settings(SetSettings {
            user: UserId, settings: NotificationSettings, now: Timestamp,
        }) -> () as User => set_settings;
        write remember_language(RememberLanguage {
            user: UserId, language: Language, is_choice: bool, now: Timestamp,
        }) -> () as User => remember_language;
        write add_device(AddDevice { device: Device, now: Timestamp }) -> () as User => add_device;
        write remove_device(RemoveDevice { user: UserId, device: DeviceId })
            -> bool as User => remove_device;
        read devices_of(DevicesOf { user: UserId }) -> Vec<Device> as User => devices_of;
        write take_notices(TakeNotices { now: Timestamp, until: Timestamp, limit: u32 })
            -> Vec<Notice> as Worker => take;
        read notices_of(NoticesOf { user: UserId, limit: u32 })
            -> Vec<NoticeView> as Worker => notices_of;

        command SettingsOf { users: Vec<UserId> }
            -> Vec<NotificationSettings> as User => settings_of;

        async fn notification_settings(
            &self,
            users: &[UserId],
        ) -> Result<Vec<NotificationSettings>> {
            self.read(SettingsOf { users: users.to_vec() }).await
        }

        command FinishNotice { notice: Notice, outcome: NoticeOutcome, now: Timestamp }
            -> () as Worker => finish;

        async fn finish_notice(
            &self,
            notice: &Notice,
            outcome: NoticeOutcome,
            now: Timestamp,
        ) -> Result<()> {
            self.write(FinishNotice { notice: notice.clone(), outcome, now }).await
        }
    }
}

/// Runs in the transaction of the worker that creates the notifications.
pub(crate) async fn plan(tx: &mut dyn Tx, notices: &[Notice], now: Timestamp) -> Result<()> {
    if notices.is_empty() {
        return Ok(());
    }
    let sql = "insert into notifications (message_id, channel, recipient, user_id, subject, body,
                                          status, next_at, created_at, updated_at, template,
                                          language, facts, reservation_id)
               values ($1, $2, $3, $4, $5, $6, 'PENDING', $7, $7, $7, $8, $9, $10, $11)
               on conflict (message_id, channel, recipient) do nothing";
    let row = |notice: &Notice| {
        let Notice { message, channel, recipient, user, subject, body, .. } = notice;
        let content = notice.content.as_ref();
        params![
            *message,
            channel.as_str(),
            *recipient,
            *user,
            subject,
            body,
            now,
            content.map(|it| it.template.clone()),
            content.map(|it| it.language.as_str()),
            content.map(|it| it.facts.clone()),
            notice.reservation
        ]
        .to_vec()
    };
    Ok(tx.add(sql, notices.iter().map(row).collect()).await?)
}

async fn settings_of(tx: &mut dyn Tx, question: &SettingsOf) -> Result<Vec<NotificationSettings>> {
    let sql = "select language, email, sms, push, reminders from notification_settings
                where user_id = $1";
    let asked = question.users.iter().map(|user| params![*user].to_vec()).collect();
    let found = tx.query_each(sql, asked).await?;
    let read = |rows: Vec<Row>| {
        let Some(row) = rows.first() else { return Ok(NotificationSettings::default()) };
        Ok(NotificationSettings {
            language: row.parse("language", Language::parse)?,
            email: row.get("email")?,
            sms: row.get("sms")?,
            push: row.get("push")?,
            reminders: row.get("reminders")?,
        })
    };
    found.into_iter().map(read).collect()
}

async fn set_settings(tx: &mut dyn Tx, command: &SetSettings) -> Result<()> {
    let sql = "insert into notification_settings (user_id, language, email, sms, push, updated_at,
                                                  reminders)
               values ($1, $2, $3, $4, $5, $6, $7)
               on conflict (user_id) do update
                  set language = excluded.language, email = excluded.email, sms = excluded.sms,
                      push = excluded.push, updated_at = excluded.updated_at,
                      reminders = excluded.reminders";
    let NotificationSettings { language, email, sms, push, reminders } = command.settings;
    let values = params![command.user, language.as_str(), email, sms, push, command.now, reminders];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn remember_language(tx: &mut dyn Tx, command: &RememberLanguage) -> Result<()> {
    let sql = "insert into notification_settings (user_id, language, email, sms, push, updated_at,
                                                  reminders)
               values ($1, $2, $3, $4, $5, $6, $7)
               on conflict (user_id) do update
                  set language = excluded.language, updated_at = excluded.updated_at
                where $8 and notification_settings.language <> excluded.language";
    let NotificationSettings { email, sms, push, reminders, .. } = NotificationSettings::default();
    let RememberLanguage { user, language, is_choice, now } = *command;
    let values = params![user, language.as_str(), email, sms, push, now, reminders, is_choice];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn add_device(tx: &mut dyn Tx, command: &AddDevice) -> Result<()> {
    // The token is encrypted for its row, so a token that changes owners gets a new row.
    let forget = "delete from devices where token_hash = $1";
    let sql = "insert into devices (id, user_id, token, token_hash, created_at)
               values ($1, $2, $3, $4, $5)";
    let Device { device, user, token, token_hash } = &command.device;
    tx.execute(forget, params![*token_hash]).await?;
    let values = params![*device, *user, token.as_slice(), *token_hash, command.now];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn remove_device(tx: &mut dyn Tx, command: &RemoveDevice) -> Result<bool> {
    let sql = "delete from devices where id = $1 and user_id = $2";
    Ok(tx.execute(sql, params![command.device, command.user]).await? > 0)
}

async fn devices_of(tx: &mut dyn Tx, question: &DevicesOf) -> Result<Vec<Device>> {
    let sql = "select id, user_id, token, token_hash from devices where user_id = $1 order by id";
    let read = |row: &Row| {
        let hash: Vec<u8> = row.get("token_hash")?;
        Ok(Device {
            device: row.get("id")?,
            user: row.get("user_id")?,
            token: row.get("token")?,
            token_hash: hash
                .try_into()
                .map_err(|_long| podo_app::Error::broken("a device token hash is 32 bytes"))?,
        })
    };
    tx.query(sql, params![question.user]).await?.iter().map(read).collect()
}

/// A notification that was claimed and never finished may have been sent, so it is closed and not
/// sent again. Both statements repeat the condition of the index, because SQLite doesn't infer it.
async fn take(tx: &mut dyn Tx, command: &TakeNotices) -> Result<Vec<Notice>> {
    let lost = "update notifications
                   set status = 'UNKNOWN', updated_at = $1,
                       last_error = 'the node that sent it ended before it could say so'
                 where status in ('PENDING', 'SENDING') and status = 'SENDING'
                   and next_at <= $1";
    tx.execute(lost, params![command.now]).await?;
    let sql = "update notifications
                  set status = 'SENDING', attempts = attempts + 1, next_at = $2, updated_at = $1
                where status = 'PENDING' and (message_id, channel, recipient) in
                      (select message_id, channel, recipient from notifications
                        where status in ('PENDING', 'SENDING') and status = 'PENDING'
                          and next_at <= $1
                        order by next_at limit $3 /* skip locked */)
               returning message_id, channel, recipient, user_id, subject, body, attempts,
                         template, language, facts, reservation_id";
    let read = |row: &Row| {
        Ok(Notice {
            message: row.get("message_id")?,
            channel: row.parse("channel", ChannelKind::parse)?,
            recipient: row.get("recipient")?,
            user: row.get("user_id")?,
            reservation: row.get("reservation_id")?,
            subject: row.get("subject")?,
            body: row.get("body")?,
            attempts: row.get("attempts")?,
            content: read_content(row)?,
        })
    };
    let values = params![command.now, command.until, command.limit];
    tx.query(sql, values).await?.iter().map(read).collect()
}

/// Absent in a notification that an earlier version planned.
fn read_content(row: &Row) -> Result<Option<NoticeContent>> {
    let (template, facts): (Option<String>, Option<String>) =
        (row.get("template")?, row.get("facts")?);
    let (Some(template), Some(facts)) = (template, facts) else { return Ok(None) };
    let language = row.parse("language", Language::parse)?;
    Ok(Some(NoticeContent { template, language, facts }))
}

async fn finish(tx: &mut dyn Tx, command: &FinishNotice) -> Result<()> {
    let sql = "update notifications
                  set status = $4, next_at = coalesce($5, next_at), last_error = $6,
                      updated_at = $7
                where message_id = $1 and channel = $2 and recipient = $3
                  and status = 'SENDING'";
    let (status, at, error) = match command.outcome.clone() {
        NoticeOutcome::Sent => ("SENT", None, None),
        NoticeOutcome::Later { at, error } => ("PENDING", Some(at), Some(error)),
        NoticeOutcome::Failed { error } => ("FAILED", None, Some(error)),
        NoticeOutcome::Unknown { error } => ("UNKNOWN", None, Some(error)),
    };
    let Notice { message, channel, recipient, .. } = command.notice;
    let values = params![message, channel.as_str(), recipient, status, at, error, command.now];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn notices_of(tx: &mut dyn Tx, question: &NoticesOf) -> Result<Vec<NoticeView>> {
    let sql = "select message_id, channel, status, attempts, last_error, created_at
                 from notifications where user_id = $1 order by message_id desc limit $2";
    let read = |row: &Row| {
        Ok(NoticeView {
            message_id: row.get("message_id")?,
            channel: row.parse("channel", ChannelKind::parse)?,
            status: row.get("status")?,
            attempts: row.get("attempts")?,
            error: row.get("last_error")?,
            created_at: row.get("created_at")?,
        })
    };
    tx.query(sql, params![question.user, question.limit]).await?.iter().map(read).collect()
}
