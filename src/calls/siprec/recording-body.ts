// The body of the INVITE to a recording server (RFC 7866 §6.1.1): the SDP and the metadata in one multipart body.
import type { Reply } from '../../sip/sip.ts'

export interface RecordingParts {
  readonly sdp: string
  /** An XML document. */
  readonly metadata: string
  /** Hexadecimal digits that occur in neither part. */
  readonly boundary: string
}

export function toRecordingBody({ sdp, metadata, boundary }: RecordingParts): NonNullable<Reply['body']> {
  return {
    type: `multipart/mixed;boundary=${boundary}`,
    content: [
      `--${boundary}`,
      'Content-Type: application/sdp',
      'Content-Disposition: session;handling=required',
      '',
      sdp,
      `--${boundary}`,
      'Content-Type: application/rs-metadata+xml',
      'Content-Disposition: recording-session',
      '',
      metadata,
      `--${boundary}--`,
      '',
    ].join('\r\n'),
  }
}
