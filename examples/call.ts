// `npm run call`: a phone for the terminal. It places one call, prints what it hears, presses the given keys and says the
// given words.
import { setTimeout as wait } from 'node:timers/promises'
import { refusalIn, type StoryEvent } from './demo/journal-story.ts'
import { speakWords } from './demo/embedded-voice.ts'
import { placeCall, RefusedCall } from './demo/phone.ts'
import { createClient, journalOfSipCall } from './demo/provision-demo.ts'
import { portOf, readArguments } from './run/arguments.ts'

const help = `npm run call -- <sip URI> --user <name> --password <password> [--press <keys>] [--say <words>] [--seconds <n>] [--server <host:port>]

It places calls and cannot be called: for that register a softphone (docs/guides/softphone.md).

  --user, --password  of a client (POST /Clients) in the account whose realm is in the URI
  --press <keys>      pressed one after the other once something is heard
  --say <words>       said in an English voice once something is heard, after the keys
  --seconds <n>       hangs up this long after the answer; without it the call lasts until the platform hangs up or Ctrl-C
  --server            where the platform takes SIP (127.0.0.1:5060, or as SWITCHHOOK_SIP_PORT says)

With SWITCHHOOK_ADMIN_API_KEY it prints of a refused call the reason and the cure in its journal.`

const { values, positionals } = readArguments(
  {
    allowPositionals: true,
    options: {
      user: { type: 'string', default: '' },
      password: { type: 'string', default: '' },
      press: { type: 'string', default: '' },
      say: { type: 'string', default: '' },
      seconds: { type: 'string' },
      server: { type: 'string', default: `127.0.0.1:${process.env['SWITCHHOOK_SIP_PORT'] ?? '5060'}` },
      help: { type: 'boolean', default: false },
    },
  },
  help,
)

// Long enough to hear the prompt that the keys or the words respond to.
const listenMs = 400

/** The longest call: a timer of Node cannot wait longer. */
const maxSeconds = 86_400

function limitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || seconds === 0 || seconds > maxSeconds)
    throw new Error(`--seconds must be a number up to ${maxSeconds}, and is "${text}".`)
  return seconds
}

async function main(): Promise<void> {
  const [uri = ''] = positionals
  if (values.help) return console.log(help)
  const realm = /^sip:[^@]+@([^:;?]+)$/.exec(uri)?.[1]
  if (realm === undefined)
    throw new Error(`The address to call must be sip:<name>@<realm>, and is "${uri}".\n\n${help}`)
  if (values.user === '' || values.password === '')
    throw new Error(`--user and --password are required.\n\n${help}`)
  const [host = '', port = '5060'] = values.server.split(':')
  const server = { host, port: portOf(port, 'The port of --server') }
  const seconds = limitOf(values.seconds)
  if (!/^[\d*#A-D]*$/.test(values.press))
    throw new Error(`--press must be keys (0 to 9, *, #, A to D), and is "${values.press}".`)
  const limit = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  let keys = values.press
  let words = values.say
  const voice = words === '' ? undefined : await speakWords(words)
  const startedAt = performance.now()
  const print = (line: string): void => {
    const at = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.log(`${at.padStart(6)} s  ${line}`)
  }
  print(`dials ${uri}`)
  const call = await placeCall({ server, realm, username: values.user, password: values.password }, uri, {
    onAnswer() {
      print('the call is answered')
      if (seconds !== undefined) timer = setTimeout(limit.resolve, seconds * 1000)
    },
    onSound(sound) {
      print(sound === 'tone' ? 'hears a tone' : 'hears speech')
      if (keys === '' && words === '') return
      const [pressed, said] = [keys, words]
      keys = ''
      words = ''
      setTimeout(() => {
        call.forgetLastSound()
        if (pressed !== '') {
          print(`presses ${pressed.split('').join(' ')}`)
          call.press(pressed)
        }
        if (voice !== undefined) {
          print(`says "${said}"`)
          call.say(voice)
        }
      }, listenMs)
    },
  })
  process.once('SIGINT', () => void call.close().then(() => process.exit()))
  try {
    const isOver = await Promise.race([call.ended.then(() => true), limit.promise.then(() => false)])
    print(isOver ? 'the platform hangs up' : `hangs up after ${seconds} s`)
  } finally {
    clearTimeout(timer)
    await call.close()
  }
}

// The record of a refused call is written a moment after the refusal.
const maxRecordMs = 5000
const recordPollMs = 100

/** Returns the reason and the cure in the journal of a refused call: undefined without a key, or without a record. */
async function reasonOf({ callId, status }: RefusedCall): Promise<string | undefined> {
  const apiKey = process.env['SWITCHHOOK_ADMIN_API_KEY'] ?? ''
  const realm = /@([^:;?]+)$/.exec(positionals[0] ?? '')?.[1] ?? ''
  if (apiKey === '') return undefined
  const baseUrl = `http://127.0.0.1:${process.env['SWITCHHOOK_HTTP_PORT'] ?? '3000'}`
  const api = createClient({ baseUrl, apiKey })
  for (const deadline = performance.now() + maxRecordMs; performance.now() < deadline;) {
    const journal = (await journalOfSipCall(api, { realm, callId })) as readonly StoryEvent[] | undefined
    const why = journal && refusalIn(journal)
    if (journal !== undefined) return why && `The platform refused the call: ${status} ${why}`
    await wait(recordPollMs)
  }
  return undefined
}

main().catch(async (error: unknown) => {
  const said = error instanceof Error ? error.message : String(error)
  process.exitCode = 1
  const reason = error instanceof RefusedCall ? await reasonOf(error).catch(() => undefined) : undefined
  console.error(reason ?? said)
})
