//! Files, downloads and attachments of a session at the HTTP door. Looks at no file itself; keeps what is uploaded.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::multipart::{Field, Multipart, MultipartError, MultipartRejection};
use axum::extract::{Path, State};
use axum::response::Response;
use hyper::{Method, StatusCode, Uri};
use serde::Deserialize;
use switchboard_types::{FileAnswer, FileRequest, SessionAnswer, SessionId, SessionRequest, SnippetCut};

use super::problem::Refused;
use super::sessions::{look, not_attached, odd};
use super::shape::{self, Content, Entries, Entry, Uploaded};
use super::take;
use crate::attachments::{Arriving, Attachment, MAX_FILES};
use crate::server::accept::Shared;
use crate::server::answer::json as json_answer;
use crate::server::artifact;

/// How long the next bytes of an upload may take.
const UPLOAD_STALL: Duration = Duration::from_secs(30);
/// Lines that can be asked for, and bytes.
const MAX_LINES: usize = 100_000;
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Where links to artifacts begin.
const ARTIFACT: &str = "/artifact/";

#[derive(Deserialize)]
struct Folder {
    #[serde(default)]
    path: String,
}

#[derive(Deserialize)]
struct Snippet {
    path: String,
    head_lines: Option<usize>,
    tail_lines: Option<usize>,
    max_bytes: Option<usize>,
}

#[derive(Deserialize)]
struct Download {
    artifact: String,
}

/// `GET /v1/sessions/{session}/files?path=`.
pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Path(session): Path<String>,
    uri: Uri,
) -> Result<Response, Refused> {
    let session = take::session(&session)?;
    let Folder { path } = take::query(&uri)?;
    match ask(&shared, session, FileRequest::List { path }).await? {
        FileAnswer::Entries { entries, truncated } => {
            let entries = entries.into_iter().map(Entry::from).collect();
            Ok(json_answer(StatusCode::OK, &Entries { entries, truncated }))
        }
        other => Err(odd(&SessionAnswer::Files(Box::new(other)))),
    }
}

/// `GET /v1/sessions/{session}/files/content?path=&head_lines=&tail_lines=&max_bytes=`.
pub(crate) async fn content(
    State(shared): State<Arc<Shared>>,
    Path(session): Path<String>,
    uri: Uri,
) -> Result<Response, Refused> {
    let session = take::session(&session)?;
    let wanted: Snippet = take::query(&uri)?;
    let usual = SnippetCut::default();
    let cut = SnippetCut {
        head_lines: wanted.head_lines.unwrap_or(usual.head_lines).min(MAX_LINES),
        tail_lines: wanted.tail_lines.unwrap_or(usual.tail_lines).min(MAX_LINES),
        max_bytes: wanted.max_bytes.unwrap_or(usual.max_bytes).min(MAX_BYTES),
    };
    match ask(&shared, session, FileRequest::Read { path: wanted.path, cut }).await? {
        FileAnswer::Snippet { path, content, truncated, total_bytes, total_lines, binary } => {
            let content = Content { path, content, truncated, total_bytes, total_lines, binary };
            Ok(json_answer(StatusCode::OK, &content))
        }
        other => Err(odd(&SessionAnswer::Files(Box::new(other)))),
    }
}

/// `GET /v1/sessions/{session}/download?artifact=`.
pub(crate) async fn download(
    State(shared): State<Arc<Shared>>,
    Path(session): Path<String>,
    uri: Uri,
) -> Result<Response, Refused> {
    let session = take::session(&session)?;
    let Download { artifact } = take::query(&uri)?;
    match ask(&shared, session, FileRequest::Artifact { path: artifact }).await? {
        FileAnswer::Artifact { url, .. } => {
            let name = url.strip_prefix(ARTIFACT).unwrap_or_default().to_owned();
            Ok(artifact::fetch(State(shared), Path(name), Method::GET).await?)
        }
        other => Err(odd(&SessionAnswer::Files(Box::new(other)))),
    }
}

/// `POST /v1/sessions/{session}/attachments`: every file of the form.
pub(crate) async fn attach(
    State(shared): State<Arc<Shared>>,
    Path(session): Path<String>,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, Refused> {
    let session = take::session(&session)?;
    let mut form = form.map_err(|_| {
        let message = "send the files as a form, `multipart/form-data`, each with its file name";
        Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    })?;
    look(&shared, session).await?;
    let mut attachments = Vec::new();
    while let Some(field) = in_time(form.next_field()).await? {
        // A form may have other fields than files.
        let Some(name) = field.file_name().map(str::to_owned) else { continue };
        if attachments.len() >= MAX_FILES {
            return Err(not_attached(&crate::attachments::AttachmentError::TooMany));
        }
        let kept = keep(&shared, session, name, field).await?;
        attachments.push(shape::Attachment { id: kept.id, name: kept.name, size: kept.size });
    }
    if attachments.is_empty() {
        return Err(Refused::bad("there is no file in this form; give each part a file name"));
    }
    Ok(json_answer(StatusCode::OK, &Uploaded { attachments }))
}

async fn keep(shared: &Shared, session: SessionId, name: String, mut field: Field<'_>) -> Result<Attachment, Refused> {
    let all = shared.attachments.clone();
    let mut arriving = off_thread(move || all.begin(session, &name)).await?;
    while let Some(bytes) = in_time(field.chunk()).await? {
        arriving = off_thread(move || {
            arriving.add(&bytes)?;
            Ok(arriving)
        })
        .await?;
    }
    off_thread(move || Arriving::finish(arriving)).await
}

async fn off_thread<T: Send + 'static>(
    what: impl FnOnce() -> Result<T, crate::attachments::AttachmentError> + Send + 'static,
) -> Result<T, Refused> {
    let done = tokio::task::spawn_blocking(what).await;
    done.map_err(|_| Refused::stopping())?.map_err(|error| not_attached(&error))
}

async fn in_time<T>(next: impl Future<Output = Result<T, MultipartError>>) -> Result<T, Refused> {
    match tokio::time::timeout(UPLOAD_STALL, next).await {
        Ok(Ok(next)) => Ok(next),
        Ok(Err(error)) => Err(Refused::bad(format!("the form cannot be read: {error}"))),
        Err(_) => Err(Refused::new(StatusCode::REQUEST_TIMEOUT, "timeout", "the rest of the form did not arrive")),
    }
}

async fn ask(shared: &Shared, session: SessionId, what: FileRequest) -> Result<FileAnswer, Refused> {
    match shared.desk.ask(SessionRequest::Files { session, what }).await? {
        SessionAnswer::Files(answer) => Ok(*answer),
        other => Err(odd(&other)),
    }
}
