// Mail to people, sent through one SMTP server (RFC 5321).
import type { Part } from '../lib/lifecycle.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  /** False when no SMTP server is set: then `send` rejects. */
  readonly isConfigured: boolean
  /** Resolves when the server has accepted the mail. */
  send(mail: Mail): Promise<void>
}

export interface MailerOptions {
  /** smtp:// or smtps://, with user and password if the server requires them. */
  readonly url: string | undefined
  readonly from: string
}

// RFC 5321 §4.5.3.2 allows longer, but a person waits for this mail.
const answerTimeoutMs = 30_000
const connectTimeoutMs = 10_000

export function createMailer({ url, from }: MailerOptions): Mailer & Part {
  let opened: ReturnType<typeof openTransport> | undefined
  return {
    name: 'mail',
    isConfigured: url !== undefined,
    start: () => Promise.resolve(),
    async stop() {
      const transport = await opened
      transport?.close()
    },
    async send({ to, subject, text }) {
      if (url === undefined) throw new Error('no SMTP server is configured')
      opened ??= openTransport(url)
      const transport = await opened
      await transport.sendMail({ from, to, subject, text })
    },
  }
}

/** Loads the mail library for the first mail: most platforms send none. */
async function openTransport(url: string) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url,
    pool: true,
    maxConnections: 2,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    socketTimeout: answerTimeoutMs,
    // The platform writes the text itself, and it names no file or URL to be read.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}
