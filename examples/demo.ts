// `npm run demo`: a phone calls the hello application through a platform, and the terminal shows what happens.
// With --phone, your own softphone places the call.
import { serveSoftphone, softphoneScript } from './browser/serve-softphone.ts'
import { startOwnPlatform, type OwnPlatform } from './demo/own-platform.ts'
import { provisionPhone } from './demo/provision-demo.ts'
import { demandRecogniser } from './demo/demand-recogniser.ts'
import { runCall, type CallRecord, type CallTarget } from './demo/run-call.ts'
import { startHelloApplication } from './hello.ts'
import { portOf, readArguments } from './run/arguments.ts'
import { interruption } from './run/interruption.ts'
import { proxyLines, serversForPhones } from './run/phone-servers.ts'

const help = `npm run demo                     a call of the demo's own phone
npm run demo -- --listen         the phone answers by voice, and a recogniser on this machine hears it
npm run demo -- --browser        a softphone in your browser, by one link
npm run demo -- --phone          sets up the running platform for your softphone

  --api-key <key>     the admin API key of a running platform, or SWITCHHOOK_ADMIN_API_KEY; without one the
                      demo starts a platform of its own
  --base-url <url>    the address of the running platform (http://127.0.0.1:3000, or as SWITCHHOOK_HTTP_PORT says)
  --sip-port <port>   its SIP port (5060, or as SWITCHHOOK_SIP_PORT says)
  --realm <name>      the SIP realm of the demo's account (demo.switchhook.test)
  --recognizer <url>  with --listen: a server that recognises speech in OpenAI's dialect (http://127.0.0.1:8100/v1, as
                      docs/guides/without-a-cloud.md starts it)
  --port <port>       with --phone: the port of the application (3001)
  --network           with --browser: the demo's own platform listens on all networks of this machine, not on
                      127.0.0.1 alone, to which Firefox sends no sound
  --keep, --no-keep   whether the demo's own platform stays up until Ctrl-C (it does at a terminal)`

const { values } = readArguments(
  {
    allowNegative: true,
    options: {
      phone: { type: 'boolean', default: false },
      listen: { type: 'boolean', default: false },
      recognizer: { type: 'string', default: 'http://127.0.0.1:8100/v1' },
      browser: { type: 'boolean', default: false },
      network: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: process.stdin.isTTY && process.stdout.isTTY === true },
      help: { type: 'boolean', default: false },
      'api-key': { type: 'string', default: process.env['SWITCHHOOK_ADMIN_API_KEY'] ?? '' },
      'base-url': {
        type: 'string',
        default: `http://127.0.0.1:${process.env['SWITCHHOOK_HTTP_PORT'] ?? '3000'}`,
      },
      realm: { type: 'string', default: 'demo.switchhook.test' },
      port: { type: 'string', default: '3001' },
      'sip-port': { type: 'string', default: process.env['SWITCHHOOK_SIP_PORT'] ?? '5060' },
    },
  },
  help,
)

const apiKey = values['api-key']
const baseUrl = values['base-url']
const recogniserUrl = values.listen ? values.recognizer : undefined
// The time since this process began.
const seconds = (): string => (performance.now() / 1000).toFixed(1)

function print(line: string): void {
  console.log(line)
}

/** Places the call through a running platform. */
async function callThroughRunning(): Promise<void> {
  print(`A phone calls an application through the platform at ${baseUrl}.`)
  const sip = { host: new URL(baseUrl).hostname, port: portOf(values['sip-port'], '--sip-port') }
  const target = { baseUrl, sip, apiKey, realm: values.realm, recogniserUrl }
  const record = await runCall(target, print)
  print(lookFurther)
  print(addressesOf(target, record, '$SWITCHHOOK_ADMIN_API_KEY'))
  print(
    `\nThe account "Switchhook demo" stays, with the record; application and client of the call are removed.`,
  )
  print(`Done after ${seconds()} s.`)
}

/** Places the call through a platform that is started for it. */
async function callThroughOwn(): Promise<void> {
  print('A phone calls an application through a platform, all of it on this machine.')
  const interrupted = interruption()
  let own: OwnPlatform | undefined
  const run = async (): Promise<void> => {
    own = await startOwnPlatform()
    print(`The platform of this demo is ready after ${seconds()} s.`)
    const target = { ...own, realm: values.realm, recogniserUrl }
    const record = await runCall(target, print)
    print(lookFurther)
    if (!values.keep) {
      print(
        '  the record         npm run demo -- --keep, which stays up for its record, journal and interface',
      )
      return print(`\nDone after ${seconds()} s.`)
    }
    print(addressesOf(target, record, own.apiKey))
    print(
      `\nDone after ${seconds()} s. The platform of this demo stays up for these addresses, until Ctrl-C.`,
    )
    await interrupted
  }
  try {
    await Promise.race([run(), interrupted])
  } finally {
    await own?.stop()
  }
}

const lookFurther = [
  '',
  'Look further',
  '  the application    examples/hello.ts, which the demo runs; one to run yourself: docs/guides/first-application.md',
  '  a voice            npm run demo -- --listen, which is answered by speech',
  '  a softphone        npm run demo -- --phone, beside npm start',
].join('\n')

/** Returns the addresses that work as long as the platform is up. */
function addressesOf({ baseUrl: base }: CallTarget, record: CallRecord, shownKey: string): string {
  const calls = `${new URL(base).origin}/v1/Accounts/${record.account_sid}/RecentCalls`
  const curl = `curl -H "Authorization: Bearer ${shownKey}"`
  return [
    `  the interface      ${new URL(base).origin}/docs`,
    '  the call records:',
    `  ${curl} "${calls}?page=1&count=25"`,
    '  the whole journal of the call:',
    `  ${curl} "${calls}/${record.call_sid}/journal"`,
  ].join('\n')
}

/** Sets up the running platform and serves the application until Ctrl-C. */
async function waitForPhone(): Promise<void> {
  if (apiKey === '')
    throw new Error(
      'A softphone calls through a platform that runs. The demo needs the admin API key that its first start printed:\n' +
        '  SWITCHHOOK_ADMIN_API_KEY=<key> npm run demo -- --phone',
    )
  const interrupted = interruption()
  const application = await startHelloApplication({ port: portOf(values.port, '--port', 0), print })
  try {
    const demo = await provisionPhone({ baseUrl, apiKey, hookUrl: application.url, realm: values.realm })
    application.requireSignature(demo.webhookSecret)
    const sip = { host: new URL(baseUrl).hostname, port: portOf(values['sip-port'], '--sip-port') }
    const calls = `${new URL(baseUrl).origin}/v1/Accounts/${demo.account_sid}/RecentCalls`
    print(
      [
        '',
        'Put this into a softphone:',
        `  SIP URI         sip:${demo.username}@${demo.realm}`,
        `  user name       ${demo.username}`,
        `  password        ${demo.password}`,
        `  domain          ${demo.realm}`,
        ...(await proxyLines(sip)),
        '',
        'Then dial any number, or the application itself:',
        `  sip:app-${demo.application_sid}@${demo.realm}`,
        '',
        'Afterwards, the records of the calls, and the whole story of one:',
        `  curl -H "Authorization: Bearer $SWITCHHOOK_ADMIN_API_KEY" "${calls}?page=1&count=25"`,
        `  curl -H "Authorization: Bearer $SWITCHHOOK_ADMIN_API_KEY" "${calls}/<call_sid>/journal"`,
        '',
        `The application listens at ${application.url}. The requests it gets are shown here; Ctrl-C ends it.`,
        '',
      ].join('\n'),
    )
    await interrupted
  } finally {
    await application.close()
  }
}

/** Serves a page that registers as a phone, through a running platform or the demo's own, until Ctrl-C. */
async function serveBrowser(): Promise<void> {
  const interrupted = interruption()
  // Before a platform is started for a page that could not be served.
  const script = await softphoneScript()
  const own = apiKey === '' ? await startOwnPlatform({ isOpen: values.network }) : undefined
  const platform = own ?? { baseUrl, apiKey }
  try {
    const application = await startHelloApplication({ port: 0, print })
    const demo = await provisionPhone({ ...platform, hookUrl: application.url, realm: values.realm })
    application.requireSignature(demo.webhookSecret)
    const { hostname, host, port } = new URL(platform.baseUrl)
    const [other] = await serversForPhones({ host: hostname, port: Number(port) })
    const networkServer = other === undefined ? undefined : `ws://${other.host}:${other.port}`
    const account = { ...demo, server: `ws://${host}`, networkServer, number: '500' }
    const page = await serveSoftphone(account, script)
    print(`Open this in a browser on this machine, allow the microphone, and press Call:\n\n  ${page.url}\n`)
    print('The requests that the application gets are shown here; Ctrl-C ends it.\n')
    await interrupted
    await Promise.all([page.close(), application.close()])
  } finally {
    await own?.stop()
  }
}

async function main(): Promise<void> {
  if (values.help) return print(help)
  if (values.phone) return waitForPhone()
  if (values.browser) return serveBrowser()
  if (recogniserUrl !== undefined) await demandRecogniser(recogniserUrl)
  return apiKey === '' ? callThroughOwn() : callThroughRunning()
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
