// A mail server for tests: speaks SMTP (RFC 5321) over loopback, checks the order and form of each command, and keeps
// the mails that it receives.
import { createServer, type Socket } from 'node:net'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** The header fields by lower-case name, unfolded. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface SmtpServerOptions {
  /** The user that must authenticate by AUTH PLAIN (RFC 4954), if given. */
  readonly user?: string
  readonly password?: string
  /** Responds 452 to every message. */
  readonly refusesMail?: boolean
}

export interface SmtpServer {
  readonly port: number
  readonly mails: ReceivedMail[]
  /** The client's violations of RFC 5321. */
  readonly faults: string[]
  /** Resolves with the next mail that arrives. */
  nextMail(): Promise<ReceivedMail>
  close(): Promise<void>
}

export async function openSmtpServer(options: SmtpServerOptions = {}): Promise<SmtpServer> {
  const mails: ReceivedMail[] = []
  const faults: string[] = []
  const sockets = new Set<Socket>()
  let waiting: ((mail: ReceivedMail) => void)[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    serve(socket, options, {
      fault: (text) => void faults.push(text),
      mail(mail) {
        mails.push(mail)
        for (const resolve of waiting) resolve(mail)
        waiting = []
      },
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('the mail server has no port')
  return {
    port: bound.port,
    mails,
    faults,
    nextMail: () => new Promise((resolve) => waiting.push(resolve)),
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

interface Listener {
  fault(text: string): void
  mail(mail: ReceivedMail): void
}

interface Session {
  hasGreeted: boolean
  isLoggedIn: boolean
  from: string | undefined
  to: string[]
}

function serve(socket: Socket, options: SmtpServerOptions, listener: Listener): void {
  const session: Session = { hasGreeted: false, isLoggedIn: false, from: undefined, to: [] }
  let buffer = ''
  let isData = false
  const reply = (text: string): void => void socket.write(`${text}\r\n`)
  reply('220 test.example.com ESMTP')
  socket.setEncoding('utf8')
  socket.on('data', (chunk) => {
    buffer += String(chunk)
    for (;;) {
      const end = isData ? buffer.indexOf('\r\n.\r\n') : buffer.indexOf('\r\n')
      if (end < 0) return
      const text = buffer.slice(0, end)
      buffer = buffer.slice(end + (isData ? 5 : 2))
      if (isData) {
        isData = false
        listener.mail(toMail(session, text))
        session.from = undefined
        session.to = []
        reply('250 taken')
      } else isData = command(text, { session, options, listener, reply, socket })
    }
  })
}

interface Turn {
  readonly session: Session
  readonly options: SmtpServerOptions
  readonly listener: Listener
  readonly reply: (text: string) => void
  readonly socket: Socket
}

/** Handles a command. Returns true if the message itself follows. */
function command(line: string, turn: Turn): boolean {
  const { session, options, reply } = turn
  const [, verb = '', rest = ''] = /^(\S+) ?(.*)$/.exec(line) ?? []
  switch (verb.toUpperCase()) {
    case 'EHLO':
      session.hasGreeted = rest !== ''
      reply(options.user === undefined ? '250 test.example.com' : '250-test.example.com\r\n250 AUTH PLAIN')
      return false
    case 'AUTH':
      logIn(rest, turn)
      return false
    case 'MAIL':
      return mailFrom(rest, turn)
    case 'RCPT':
      return recipient(rest, turn)
    case 'DATA':
      if (session.to.length === 0) return refuse(turn, '503 RCPT first', 'DATA without RCPT')
      if (options.refusesMail === true) {
        reply('452 no room')
        return false
      }
      reply('354 go on')
      return true
    case 'RSET':
    case 'NOOP':
      reply('250 fine')
      return false
    case 'QUIT':
      turn.socket.end('221 bye\r\n')
      return false
    default:
      return refuse(turn, '500 unknown command', `unknown command ${line}`)
  }
}

function refuse({ reply, listener }: Turn, answer: string, fault: string): false {
  listener.fault(fault)
  reply(answer)
  return false
}

function logIn(rest: string, { session, options, reply }: Turn): void {
  const [mechanism, initial = ''] = rest.split(' ')
  const [, user, password] = Buffer.from(initial, 'base64').toString().split('\0')
  session.isLoggedIn = mechanism === 'PLAIN' && user === options.user && password === options.password
  reply(session.isLoggedIn ? '235 welcome' : '535 wrong credentials')
}

function mailFrom(rest: string, turn: Turn): false {
  const { session, options, reply } = turn
  const address = /^FROM:<([^<>\s]*)>/i.exec(rest)?.[1]
  if (!session.hasGreeted) return refuse(turn, '503 EHLO first', 'MAIL without EHLO')
  if (options.user !== undefined && !session.isLoggedIn)
    return refuse(turn, '530 log in first', 'MAIL without AUTH')
  if (address === undefined) return refuse(turn, '501 no address', `MAIL ${rest}`)
  session.from = address
  reply('250 fine')
  return false
}

function recipient(rest: string, turn: Turn): false {
  const address = /^TO:<([^<>\s]+@[^<>\s]+)>/i.exec(rest)?.[1]
  if (turn.session.from === undefined) return refuse(turn, '503 MAIL first', 'RCPT without MAIL')
  if (address === undefined) return refuse(turn, '501 no address', `RCPT ${rest}`)
  turn.session.to.push(address)
  turn.reply('250 fine')
  return false
}

function toMail({ from = '', to }: Session, text: string): ReceivedMail {
  const gap = text.indexOf('\r\n\r\n')
  const head = text.slice(0, gap).replace(/\r\n[ \t]+/g, ' ')
  const headers = new Map(
    head.split('\r\n').map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  // RFC 5321 §4.5.2: the sender doubles a dot at the start of a line.
  const body = text.slice(gap + 4).replace(/(^|\r\n)\.\./g, '$1.')
  return { from, to: [...to], headers, body }
}
