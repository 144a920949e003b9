// The setup of the demo through the public REST API; the next run finds it again.
import { createHmac, randomBytes } from 'node:crypto'

export interface DemoOptions {
  /** The platform: `http://127.0.0.1:3000`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** The URL of the application server; `/call` and `/status` are appended. */
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

const accountName = 'Switchhook demo'
const phoneApplication = 'hello'
const callApplication = 'hello, for one call of npm run demo'
const callClient = 'demo-caller'

type Row = Record<string, unknown>

/**
 * Sets up an account, an application and a client for a softphone. A second run with the same API key finds them all,
 * and changes no password.
 */
export async function provisionPhone(options: DemoOptions): Promise<Demo> {
  const { apiKey, hookUrl } = options
  const api = createClient(options)
  const account_sid = await findOrCreateAccount(api, options.realm)
  const application_sid = await findOrCreateApplication(api, account_sid, hookUrl)
  const account = (await api('GET', `/Accounts/${account_sid}`)) as Row
  // Any number that a phone of the account dials reaches the application, unless another one was chosen for that.
  if (typeof account['device_calling_application_sid'] !== 'string')
    await api('PUT', `/Accounts/${account_sid}`, { device_calling_application_sid: application_sid })
  const { username, password } = credentialsFor(apiKey, account_sid)
  const known = await findIn(api, '/Clients', { account_sid, username })
  const client_sid =
    known === undefined
      ? await create(api, '/Clients', { account_sid, username, password })
      : String(known['client_sid'])
  return toDemo(api, options, {
    account_sid,
    application_sid,
    client_sid,
    username,
    password,
  })
}

export interface CallOptions extends DemoOptions {
  /** The base URL of a server that recognises speech in OpenAI's dialect. */
  readonly recogniserUrl?: string | undefined
}

/** The recogniser of the call, by its vendor and label, and the language that is spoken. */
export const callRecognizer = { vendor: 'openai', label: 'npm-run-demo', language: 'en-US' } as const

export interface CallDemo extends Demo {
  /** Removes the application, the client and the credential. The account stays, with the records of its calls. */
  remove(): Promise<void>
}

/** Sets up one call of the demo's own phone: what it sets up is removed after it. */
export async function provisionCall(options: CallOptions): Promise<CallDemo> {
  const api = createClient(options)
  const account_sid = await findOrCreateAccount(api, options.realm)
  // A killed run may have left its application and client.
  await removeCall(api, account_sid)
  const application_sid = await create(api, '/Applications', {
    ...applicationFields(options.hookUrl),
    account_sid,
    name: callApplication,
  })
  const { recogniserUrl } = options
  if (recogniserUrl !== undefined)
    await create(api, `/Accounts/${account_sid}/SpeechCredentials`, {
      vendor: callRecognizer.vendor,
      label: callRecognizer.label,
      api_uri: recogniserUrl,
      // Required, and of no meaning to a server of one's own.
      api_key: 'none',
      model_id: 'whisper-1',
      use_for_stt: 1,
      use_for_tts: 0,
    })
  // A command would take a password that begins with a hyphen for an option.
  const password = randomBytes(15).toString('hex')
  const client_sid = await create(api, '/Clients', { account_sid, username: callClient, password })
  const sids = { account_sid, application_sid, client_sid, username: callClient, password }
  return { ...(await toDemo(api, options, sids)), remove: () => removeCall(api, account_sid) }
}

async function removeCall(api: Api, account_sid: string): Promise<void> {
  const client = await findIn(api, '/Clients', { account_sid, username: callClient })
  if (client !== undefined) await api('DELETE', `/Clients/${String(client['client_sid'])}`)
  const application = await findIn(api, '/Applications', { account_sid, name: callApplication })
  if (application !== undefined)
    await api('DELETE', `/Applications/${String(application['application_sid'])}`)
  const credentials = `/Accounts/${account_sid}/SpeechCredentials`
  const credential = await findIn(api, credentials, { label: callRecognizer.label })
  if (credential !== undefined)
    await api('DELETE', `${credentials}/${String(credential['speech_credential_sid'])}`)
}

async function toDemo(
  api: Api,
  { realm }: DemoOptions,
  sids: Omit<Demo, 'realm' | 'webhookSecret'>,
): Promise<Demo> {
  const { webhook_secret } = (await api('GET', `/Accounts/${sids.account_sid}/WebhookSecret`)) as Row
  return { ...sids, realm, webhookSecret: String(webhook_secret) }
}

export async function findOrCreateAccount(api: Api, realm: string, name = accountName): Promise<string> {
  const known = await findIn(api, '/Accounts', { sip_realm: realm })
  if (known !== undefined) return String(known['account_sid'])
  const [provider] = await list(api, '/ServiceProviders')
  if (provider === undefined) throw new Error('The API key sees no service provider.')
  const { service_provider_sid } = provider
  return create(api, '/Accounts', { name, service_provider_sid, sip_realm: realm })
}

export function applicationFields(hookUrl: string) {
  return {
    call_hook: { url: `${hookUrl}/call`, method: 'POST' },
    call_status_hook: { url: `${hookUrl}/status`, method: 'POST' },
    speech_synthesis_vendor: 'embedded',
    speech_synthesis_language: 'en-US',
    speech_synthesis_voice: 'kal',
  }
}

async function findOrCreateApplication(api: Api, account_sid: string, hookUrl: string): Promise<string> {
  const fields = applicationFields(hookUrl)
  const known = await findIn(api, '/Applications', { account_sid, name: phoneApplication })
  if (known === undefined)
    return create(api, '/Applications', { ...fields, account_sid, name: phoneApplication })
  const application_sid = String(known['application_sid'])
  const { url } = known['call_hook'] as { readonly url: string }
  if (url !== fields.call_hook.url) await api('PUT', `/Applications/${application_sid}`, fields)
  return application_sid
}

/**
 * Returns a user name and password. Both are derived from the API key, so that a second run has them without storing
 * them anywhere. Another key gives another client: the password of a phone in use never changes.
 */
function credentialsFor(apiKey: string, account_sid: string): { username: string; password: string } {
  const secret = createHmac('sha256', apiKey).update(`demo client of ${account_sid}`).digest()
  return {
    username: `demo-${secret.toString('hex', 0, 2)}`,
    password: secret.toString('base64url', 2).slice(0, 20),
  }
}

export type Api = (method: string, path: string, body?: object) => Promise<unknown>

export function createClient({ baseUrl, apiKey }: Pick<DemoOptions, 'baseUrl' | 'apiKey'>): Api {
  const origin = baseUrl.replace(/(\/v1)?\/*$/, '')
  return async (method, path, body) => {
    const response = await fetch(`${origin}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new Error(`The platform does not respond at ${baseUrl}. Is it running (npm start)?`, { cause })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(sentenceOf(response, text, { baseUrl, asked: `${method} ${path}` }))
    return text === '' ? undefined : JSON.parse(text)
  }
}

interface Asked {
  readonly baseUrl: string
  readonly asked: string
}

/** Returns a sentence with the refused request, the reason and the cure. */
function sentenceOf({ status }: Response, text: string, { baseUrl, asked }: Asked): string {
  const refusal = refusalIn(text)
  if (refusal === undefined)
    return `The server at ${baseUrl} is not Switchhook: it responded to ${asked} with ${status}. Name the platform with --base-url.`
  if (status === 401)
    return `The platform at ${baseUrl} does not take this API key (${refusal.msg}). Its first start has printed the admin API key, for SWITCHHOOK_ADMIN_API_KEY or --api-key; npm run reset-admin makes another one.`
  // The first boot prints both keys, one above the other.
  if (status === 403)
    return `This API key may not do that (${refusal.msg}). Take the admin API key, not the one of an account.`
  return `The platform refused ${asked} (${status} ${refusal.code}): ${refusal.msg}. ${refusal.cure}`
}

type Refusal = Readonly<Record<'msg' | 'code' | 'cure', string>>

function refusalIn(text: string): Refusal | undefined {
  try {
    const { msg, code, cure } = JSON.parse(text) as Partial<Refusal>
    return msg === undefined || code === undefined || cure === undefined ? undefined : { msg, code, cure }
  } catch {
    return undefined
  }
}

async function list(api: Api, path: string): Promise<Row[]> {
  return (await api('GET', path)) as Row[]
}

/** Returns the first row that has all of these values. */
export async function findIn(api: Api, path: string, values: Row): Promise<Row | undefined> {
  const wanted = Object.entries(values)
  return (await list(api, path)).find((row) => wanted.every(([name, value]) => row[name] === value))
}

export async function create(api: Api, path: string, body: object): Promise<string> {
  const { sid } = (await api('POST', path, body)) as { sid: string }
  return sid
}

/** Returns the journal of a call of any account that the key may read; undefined if none has the call. */
export async function journalOfCall(api: Api, call_sid: string): Promise<unknown[] | undefined> {
  for (const { account_sid } of await list(api, '/Accounts')) {
    const journal = await journalIn(
      api,
      String(account_sid),
      { call_sid },
      `&filter=${encodeURIComponent(call_sid)}`,
    )
    if (journal !== undefined) return journal
  }
  return undefined
}

/** Returns the journal of a recent call to a SIP realm; undefined if there is no record of it. */
export async function journalOfSipCall(
  api: Api,
  { realm, callId }: { readonly realm: string; readonly callId: string },
): Promise<unknown[] | undefined> {
  const account = await findIn(api, '/Accounts', { sip_realm: realm })
  return account && journalIn(api, String(account['account_sid']), { sip_call_id: callId })
}

async function journalIn(
  api: Api,
  account_sid: string,
  wanted: Row,
  query = '',
): Promise<unknown[] | undefined> {
  const path = `/Accounts/${account_sid}/RecentCalls`
  const { data } = (await api('GET', `${path}?page=1&count=25${query}`)) as { readonly data: readonly Row[] }
  const call = data.find((row) => Object.entries(wanted).every(([name, value]) => row[name] === value))
  return call && ((await api('GET', `${path}/${String(call['call_sid'])}/journal`)) as unknown[])
}
