// Sets up what a first call needs through the public REST API, and finds it again on the next run.
import { createHmac } from 'node:crypto'

export interface DemoOptions {
  /** Of the platform: `http://127.0.0.1:3000`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Of the application server; `/call` and `/status` are appended. */
  readonly hookUrl: string
  readonly realm: string
}

export interface Demo {
  readonly account_sid: string
  readonly application_sid: string
  readonly client_sid: string
  readonly username: string
  readonly password: string
  readonly realm: string
  readonly webhookSecret: string
}

const names = { account: 'Switchhook demo', application: 'hello', client: 'demo' } as const

type Row = Record<string, unknown>

export async function provisionDemo({ baseUrl, apiKey, hookUrl, realm }: DemoOptions): Promise<Demo> {
  const api = createClient(baseUrl, apiKey)
  const account_sid = await findOrCreateAccount(api, realm)
  const application_sid = await findOrCreateApplication(api, account_sid, hookUrl)
  // Whatever a phone of the account dials now reaches the application.
  await api('PUT', `/Accounts/${account_sid}`, { device_calling_application_sid: application_sid })
  const password = passwordFor(apiKey, account_sid)
  const client_sid = await findOrCreateClient(api, account_sid, password)
  const { webhook_secret } = (await api('GET', `/Accounts/${account_sid}/WebhookSecret`)) as Row
  return {
    account_sid,
    application_sid,
    client_sid,
    username: names.client,
    password,
    realm,
    webhookSecret: String(webhook_secret),
  }
}

async function findOrCreateAccount(api: Api, realm: string): Promise<string> {
  const known = (await list(api, '/Accounts')).find((row) => row['sip_realm'] === realm)
  if (known !== undefined) return String(known['account_sid'])
  const [provider] = await list(api, '/ServiceProviders')
  if (provider === undefined) throw new Error('The API key sees no service provider.')
  const { service_provider_sid } = provider
  return create(api, '/Accounts', { name: names.account, service_provider_sid, sip_realm: realm })
}

async function findOrCreateApplication(api: Api, account_sid: string, hookUrl: string): Promise<string> {
  const fields = {
    call_hook: { url: `${hookUrl}/call`, method: 'POST' },
    call_status_hook: { url: `${hookUrl}/status`, method: 'POST' },
    speech_synthesis_vendor: 'embedded',
    speech_synthesis_language: 'en-US',
    speech_synthesis_voice: 'kal',
  }
  const rows = await list(api, '/Applications')
  const known = rows.find((row) => row['account_sid'] === account_sid && row['name'] === names.application)
  if (known === undefined)
    return create(api, '/Applications', { ...fields, account_sid, name: names.application })
  const application_sid = String(known['application_sid'])
  await api('PUT', `/Applications/${application_sid}`, fields)
  return application_sid
}

async function findOrCreateClient(api: Api, account_sid: string, password: string): Promise<string> {
  const rows = await list(api, '/Clients')
  const known = rows.find((row) => row['account_sid'] === account_sid && row['username'] === names.client)
  // Passwords are shown masked, except for their first character: it tells whether ours is still the one.
  if (known !== undefined && String(known['password']).startsWith(password.slice(0, 1)))
    return String(known['client_sid'])
  if (known !== undefined) await api('DELETE', `/Clients/${String(known['client_sid'])}`)
  return create(api, '/Clients', { account_sid, username: names.client, password })
}

/** Made from the API key, so that a second run knows it without storing it anywhere. */
function passwordFor(apiKey: string, account_sid: string): string {
  return createHmac('sha256', apiKey).update(`demo client of ${account_sid}`).digest('base64url').slice(0, 20)
}

type Api = (method: string, path: string, body?: object) => Promise<unknown>

function createClient(baseUrl: string, apiKey: string): Api {
  const origin = baseUrl.replace(/(\/v1)?\/*$/, '')
  return async (method, path, body) => {
    const response = await fetch(`${origin}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new Error(`The platform does not answer at ${baseUrl}. Is it running (npm start)?`, { cause })
    })
    const text = await response.text()
    if (!response.ok) {
      // The first boot prints both keys, one above the other.
      const hint = response.status === 403 ? '\nIt takes the admin API key, not that of an account.' : ''
      throw new Error(`${method} ${path} answered ${response.status}: ${text}${hint}`)
    }
    return text === '' ? undefined : JSON.parse(text)
  }
}

async function list(api: Api, path: string): Promise<Row[]> {
  return (await api('GET', path)) as Row[]
}

async function create(api: Api, path: string, body: object): Promise<string> {
  const { sid } = (await api('POST', path, body)) as { sid: string }
  return sid
}
