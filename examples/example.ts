// `npm run example -- <name>`: runs one of the examples for your own phones, on a platform of its own or beside yours.
import { callCentre } from './call-centre.ts'
import { clickToCall } from './click-to-call.ts'
import { conference } from './conference.ts'
import { refusalIn, type StoryEvent } from './demo/journal-story.ts'
import { startOwnPlatform, type OwnPlatform } from './demo/own-platform.ts'
import { echo } from './echo.ts'
import { ivr } from './ivr.ts'
import { recordMe } from './record-me.ts'
import { ringGroup } from './ring-group.ts'
import { nearestWord } from '../src/lib/nearest-word.ts'
import { taxi } from './taxi.ts'
import { portOf, readArguments } from './run/arguments.ts'
import type { Example } from './run/example.ts'
import { interruption } from './run/interruption.ts'
import { proxyLines } from './run/phone-servers.ts'
import { provisionExample } from './run/provision-example.ts'
import { startHookServer } from './run/serve-hooks.ts'

const examples: Readonly<Record<string, Example>> = {
  ivr,
  'ring-group': ringGroup,
  'click-to-call': clickToCall,
  conference,
  'call-centre': callCentre,
  echo,
  'record-me': recordMe,
  taxi,
}

const help = `npm run example -- ivr             a menu that connects callers with sales or support
npm run example -- ring-group      every phone rings, with an announcement when no one is there
npm run example -- click-to-call   a page that connects an agent with a customer
npm run example -- conference      a room that begins and ends with its moderator
npm run example -- call-centre     callers wait in a queue, agents take them, a page counts
npm run example -- echo            callers hear themselves, over WebSocket audio
npm run example -- record-me       callers hear what they have said after the beep
npm run example -- taxi            a menu over WebSocket, whose call waits for the application

  --api-key <key>     the admin API key of a running platform, or SWITCHHOOK_ADMIN_API_KEY; without one the
                      example starts a platform of its own
  --base-url <url>    the address of the running platform (http://127.0.0.1:3000, or as SWITCHHOOK_HTTP_PORT says)
  --sip-port <port>   its SIP port (5060, or as SWITCHHOOK_SIP_PORT says)
  --realm <name>      the SIP realm of the example's account (<name>.switchhook.test)
  --port <port>       the port of the example's web server (3001)`

const { values, positionals } = readArguments(
  {
    allowPositionals: true,
    options: {
      help: { type: 'boolean', default: false },
      'api-key': { type: 'string', default: process.env['SWITCHHOOK_ADMIN_API_KEY'] ?? '' },
      'base-url': {
        type: 'string',
        default: `http://127.0.0.1:${process.env['SWITCHHOOK_HTTP_PORT'] ?? '3000'}`,
      },
      'sip-port': { type: 'string', default: process.env['SWITCHHOOK_SIP_PORT'] ?? '5060' },
      realm: { type: 'string' },
      port: { type: 'string', default: '3001' },
    },
  },
  help,
)

type Platform = Pick<OwnPlatform, 'baseUrl' | 'sip' | 'apiKey'>

function print(line: string): void {
  console.log(line)
}

function runningPlatform(apiKey: string): Platform {
  const baseUrl = values['base-url']
  return {
    baseUrl,
    apiKey,
    sip: { host: new URL(baseUrl).hostname, port: portOf(values['sip-port'], '--sip-port') },
  }
}

interface Course {
  readonly interrupted: Promise<unknown>
  /** Runs when the example is ready for calls: from then on Ctrl-C ends it in order. */
  readonly onSetUp: () => void
}

/** Serves the example until Ctrl-C. */
async function run(name: string, example: Example, { interrupted, onSetUp }: Course): Promise<void> {
  const apiKey = values['api-key']
  const own = apiKey === '' ? await startOwnPlatform() : undefined
  const server = await startHookServer({ port: portOf(values.port, '--port', 0), print }).catch(
    async (error: unknown) => {
      await own?.stop()
      throw error
    },
  )
  try {
    const realm = values.realm ?? `${name}.switchhook.test`
    const platform = own ?? runningPlatform(apiKey)
    const { users, takesCalls, hearsOfQueues = false, isOverSocket = false } = example
    const provisioned = await provisionExample({
      ...platform,
      name,
      realm,
      users,
      takesCalls,
      hearsOfQueues,
      isOverSocket,
      hookUrl: server.url,
    })
    const { account_sid, application_sid, passwords, webhookSecret } = provisioned
    const setting = {
      url: server.url,
      application_sid,
      api: (method: string, path: string, body: object) =>
        provisioned.api(method, `/Accounts/${account_sid}${path}`, body),
    }
    server.serve(example.create(setting), webhookSecret, async (call_sid) => {
      const path = `/Accounts/${account_sid}/RecentCalls/${call_sid}/journal`
      return refusalIn((await provisioned.api('GET', path)) as readonly StoryEvent[])
    })
    print(
      [
        'Put these into softphones:',
        `  ${'user name'.padEnd(12)}password`,
        ...[...passwords].map(([user, password]) => `  ${user.padEnd(12)}${password}`),
        '',
        `  domain          ${realm}`,
        ...(await proxyLines(platform.sip)),
        '',
        ...example.howTo(setting),
        '',
        `The application listens at ${server.url}. What it answers is shown here; Ctrl-C ends it.`,
      ].join('\n'),
    )
    onSetUp()
    await interrupted
  } finally {
    await server.close()
    await own?.stop()
  }
}

function absence(name: string): string {
  const nearest = nearestWord(name, Object.keys(examples))
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return `There is no example ${name}.${hint}`
}

async function main(): Promise<void> {
  const [name = ''] = positionals
  if (values.help) return print(help)
  const example = Object.hasOwn(examples, name) ? examples[name] : undefined
  if (example === undefined) throw new Error(name === '' ? help : `${absence(name)}\n\n${help}`)
  const interrupted = interruption().then(() => 'interrupted' as const)
  const setUp = Promise.withResolvers<void>()
  const running = run(name, example, { interrupted, onSetUp: setUp.resolve })
  if ((await Promise.race([running, setUp.promise, interrupted])) !== 'interrupted') return running
  // Ctrl-C also reaches the example's platform, so failures from now on are not reported. Child processes end with
  // this process.
  running.catch(() => undefined)
  print('Ended before it was set up.')
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    const isPortTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    if (isPortTaken) console.error(`Port ${values.port} is taken; choose another one with --port.`)
    else console.error(error instanceof Error ? error.message : String(error))
    process.exit(1)
  },
)
