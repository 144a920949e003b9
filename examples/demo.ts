// `npm run demo`: starts the hello application, provisions an account for it and says what to put into a softphone.
import { parseArgs } from 'node:util'
import { startHelloApplication } from './hello.ts'
import { provisionDemo } from './provision-demo.ts'

const { values } = parseArgs({
  options: {
    'api-key': { type: 'string', default: process.env['SWITCHHOOK_ADMIN_API_KEY'] ?? '' },
    'base-url': {
      type: 'string',
      default: `http://127.0.0.1:${process.env['SWITCHHOOK_HTTP_PORT'] ?? '3000'}`,
    },
    realm: { type: 'string', default: 'demo.switchhook.test' },
    port: { type: 'string', default: '3001' },
    'sip-port': { type: 'string', default: process.env['SWITCHHOOK_SIP_PORT'] ?? '5060' },
  },
})

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

async function main(): Promise<void> {
  const apiKey = values['api-key']
  const baseUrl = values['base-url']
  if (apiKey === '')
    fail(
      'The demo needs the admin API key that the first start of the platform printed:\n' +
        '  SWITCHHOOK_ADMIN_API_KEY=<key> npm run demo\n' +
        '  npm run demo -- --api-key <key> [--base-url http://127.0.0.1:3000]',
    )
  const application = await startHelloApplication({ port: Number(values.port) })
  const demo = await provisionDemo({ baseUrl, apiKey, hookUrl: application.url, realm: values.realm })
  application.requireSignature(demo.webhookSecret)
  const server = `${new URL(baseUrl).hostname}:${values['sip-port']}`
  const calls = `${new URL(baseUrl).origin}/v1/Accounts/${demo.account_sid}/RecentCalls`
  console.log(
    [
      '',
      'Put this into a softphone:',
      `  SIP URI         sip:${demo.username}@${demo.realm}`,
      `  user name       ${demo.username}`,
      `  password        ${demo.password}`,
      `  domain          ${demo.realm}`,
      `  outbound proxy  sip:${server} (UDP or TCP)`,
      '',
      'Then dial any number, or the application itself:',
      `  sip:app-${demo.application_sid}@${demo.realm}`,
      '',
      'Afterwards, the records of the calls, and the whole story of one:',
      `  curl -H "Authorization: Bearer <the admin API key>" "${calls}?page=1&count=25"`,
      `  curl -H "Authorization: Bearer <the admin API key>" "${calls}/<call_sid>/journal"`,
      '',
      `The application answers at ${application.url}. What it hears is shown here; Ctrl-C ends it.`,
      '',
    ].join('\n'),
  )
  process.once('SIGINT', () => void application.close())
}

main().catch((error: unknown) => {
  const isPortTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  if (isPortTaken) fail(`Port ${values.port} is taken; choose another one with --port.`)
  fail(error instanceof Error ? error.message : String(error))
})
