//! Letters that leave the house, and who wants them where.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::ports::notifications::{
    ChannelKind, Device, Notice, NoticeOutcome, NoticeView, NotificationSettings, Notifications,
};
use async_trait::async_trait;
use domain::messages::Language;
use domain::{DeviceId, Timestamp, UserId};

struct SettingsOf(Vec<UserId>);

struct SetSettings {
    user: UserId,
    settings: NotificationSettings,
    now: Timestamp,
}

struct AddDevice {
    device: Device,
    now: Timestamp,
}

struct RemoveDevice {
    user: UserId,
    device: DeviceId,
}

struct DevicesOf(UserId);

struct TakeNotices {
    now: Timestamp,
    until: Timestamp,
    limit: u32,
}

struct FinishNotice {
    notice: Notice,
    outcome: NoticeOutcome,
    now: Timestamp,
}

struct NoticesOf {
    user: UserId,
    limit: u32,
}

work!(User: SettingsOf => settings_of, Vec<NotificationSettings>);
work!(User: SetSettings => set_settings, ());
work!(User: AddDevice => add_device, ());
work!(User: RemoveDevice => remove_device, bool);
work!(User: DevicesOf => devices_of, Vec<Device>);
work!(Worker: TakeNotices => take, Vec<Notice>);
work!(Worker: FinishNotice => finish, ());
work!(Worker: NoticesOf => notices_of, Vec<NoticeView>);

#[async_trait]
impl Notifications for SqlStore {
    async fn notification_settings(&self, users: &[UserId]) -> Result<Vec<NotificationSettings>> {
        self.read(SettingsOf(users.to_vec())).await
    }

    async fn set_notification_settings(
        &self,
        user: UserId,
        settings: NotificationSettings,
        now: Timestamp,
    ) -> Result<()> {
        self.write(SetSettings { user, settings, now }).await
    }

    async fn add_device(&self, device: Device, now: Timestamp) -> Result<()> {
        self.write(AddDevice { device, now }).await
    }

    async fn remove_device(&self, user: UserId, device: DeviceId) -> Result<bool> {
        self.write(RemoveDevice { user, device }).await
    }

    async fn devices_of(&self, user: UserId) -> Result<Vec<Device>> {
        self.read(DevicesOf(user)).await
    }

    async fn take_notices(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Notice>> {
        self.write(TakeNotices { now, until, limit }).await
    }

    async fn finish_notice(
        &self,
        notice: &Notice,
        outcome: NoticeOutcome,
        now: Timestamp,
    ) -> Result<()> {
        self.write(FinishNotice { notice: notice.clone(), outcome, now }).await
    }

    async fn notices_of(&self, user: UserId, limit: u32) -> Result<Vec<NoticeView>> {
        self.read(NoticesOf { user, limit }).await
    }
}

/// In the transaction of the worker that makes the letters.
pub(super) async fn plan(tx: &mut dyn Tx, notices: &[Notice], now: Timestamp) -> Result<()> {
    if notices.is_empty() {
        return Ok(());
    }
    let sql = "insert into notifications (message_id, channel, recipient, user_id, subject, body,
                                          status, next_at, created_at, updated_at)
               values ($1, $2, $3, $4, $5, $6, 'PENDING', $7, $7, $7)
               on conflict (message_id, channel, recipient) do nothing";
    let row = |notice: &Notice| {
        let Notice { message, channel, recipient, user, subject, body, .. } = notice;
        params![*message, channel.as_str(), *recipient, *user, subject, body, now].to_vec()
    };
    Ok(tx.add(sql, notices.iter().map(row).collect()).await?)
}

async fn settings_of(tx: &mut dyn Tx, question: &SettingsOf) -> Result<Vec<NotificationSettings>> {
    let sql = "select language, email, sms, push from notification_settings where user_id = $1";
    let asked = question.0.iter().map(|user| params![*user].to_vec()).collect();
    let found = tx.query_each(sql, asked).await?;
    let read = |rows: Vec<Row>| {
        let Some(row) = rows.first() else { return Ok(NotificationSettings::default()) };
        Ok(NotificationSettings {
            language: row.parse(0, Language::parse)?,
            email: row.get(1)?,
            sms: row.get(2)?,
            push: row.get(3)?,
        })
    };
    found.into_iter().map(read).collect()
}

async fn set_settings(tx: &mut dyn Tx, command: &SetSettings) -> Result<()> {
    let sql = "insert into notification_settings (user_id, language, email, sms, push, updated_at)
               values ($1, $2, $3, $4, $5, $6)
               on conflict (user_id) do update
                  set language = excluded.language, email = excluded.email, sms = excluded.sms,
                      push = excluded.push, updated_at = excluded.updated_at";
    let NotificationSettings { language, email, sms, push } = command.settings;
    let values = params![command.user, language.as_str(), email, sms, push, command.now];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn add_device(tx: &mut dyn Tx, command: &AddDevice) -> Result<()> {
    // Sealed for its row: a token that changes hands gets a new one.
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
        let hash: Vec<u8> = row.get(3)?;
        Ok(Device {
            device: row.get(0)?,
            user: row.get(1)?,
            token: row.get(2)?,
            token_hash: hash.try_into().map_err(|_long| app::Error::broken("a device's hash"))?,
        })
    };
    tx.query(sql, params![question.0]).await?.iter().map(read).collect()
}

/// One that was taken and never finished may have been sent: it is closed, not sent again.
async fn take(tx: &mut dyn Tx, command: &TakeNotices) -> Result<Vec<Notice>> {
    let lost = "update notifications
                   set status = 'UNKNOWN', updated_at = $1,
                       last_error = 'the node that sent it ended before it could say so'
                 where status = 'SENDING' and next_at <= $1";
    tx.execute(lost, params![command.now]).await?;
    let sql = "update notifications
                  set status = 'SENDING', attempts = attempts + 1, next_at = $2, updated_at = $1
                where status = 'PENDING' and (message_id, channel, recipient) in
                      (select message_id, channel, recipient from notifications
                        where status = 'PENDING' and next_at <= $1
                        order by next_at limit $3 /* skip locked */)
               returning message_id, channel, recipient, user_id, subject, body, attempts";
    let read = |row: &Row| {
        Ok(Notice {
            message: row.get(0)?,
            channel: row.parse(1, ChannelKind::parse)?,
            recipient: row.get(2)?,
            user: row.get(3)?,
            subject: row.get(4)?,
            body: row.get(5)?,
            attempts: row.get(6)?,
        })
    };
    let values = params![command.now, command.until, command.limit];
    tx.query(sql, values).await?.iter().map(read).collect()
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
            message_id: row.get(0)?,
            channel: row.parse(1, ChannelKind::parse)?,
            status: row.get(2)?,
            attempts: row.get(3)?,
            error: row.get(4)?,
            created_at: row.get(5)?,
        })
    };
    tx.query(sql, params![question.user, question.limit]).await?.iter().map(read).collect()
}
