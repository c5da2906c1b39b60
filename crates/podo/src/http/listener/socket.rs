//! A socket that records when bytes arrive and when sending stalls.

use crate::http::listener::connection::Connection;
use bytes::{Buf, BytesMut};
use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

pub(crate) struct Socket {
    pub(crate) stream: TcpStream,
    /// Bytes already read by the protocol detection or the fast path.
    pub(crate) early: BytesMut,
    pub(crate) connection: Arc<Connection>,
}

impl Socket {
    fn note(&self, written: &Poll<Result<usize>>) {
        match written {
            Poll::Pending => self.connection.block(),
            Poll::Ready(_) => self.connection.unblock(),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        if !self.early.is_empty() {
            let n_bytes = self.early.len().min(buffer.remaining());
            buffer.put_slice(&self.early[..n_bytes]);
            self.early.advance(n_bytes);
            return Poll::Ready(Ok(()));
        }
        let n_before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > n_before {
            self.connection.begin_reading();
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.note(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
