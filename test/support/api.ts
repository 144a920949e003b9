// A platform for API tests: the real HTTP server over the store of the running vitest project, with two providers,
// their accounts and a caller of every kind. Calls and registrations are lists that a test fills.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { createApi } from '../../src/api/create-api.ts'
import type { RegisteredPhone } from '../../src/contracts/registered-phone.ts'
import type { Bindings } from '../../src/api/services.ts'
import type { RealmFacts } from '../../src/contracts/realm-facts.ts'
import type { OperatorRules } from '../../src/api/services.ts'
import { createPasswordResets } from '../../src/api/logins/password-resets.ts'
import { createAzure } from '../../src/buckets/azure.ts'
import { createBuckets } from '../../src/buckets/create-buckets.ts'
import { createAccountBuckets } from '../../src/directory/account-buckets.ts'
import { createRecordings } from '../../src/recordings/create-recordings.ts'
import type { Recordings } from '../../src/recordings/recordings.ts'
import { createS3Compatible } from '../../src/buckets/s3.ts'
import type { Ping, TrunkGateway, WatchedGateway } from '../../src/trunks/trunks.ts'
import type { CallRequest, DryQuestion, DryRun, LiveCall, LiveConference } from '../../src/calls/calls.ts'
import type { AskedCommands } from '../../src/calls/command.ts'
import type { JournalEvent } from '../../src/calls/journal/journal.ts'
import type { RateLimitRules } from '../../src/http/limits/rate-limits.ts'
import type { HttpServer } from '../../src/http/http.ts'
import { apiKeyColumns } from '../../src/lib/api-key.ts'
import { systemTenancy } from '../../src/contracts/caller.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { createSid, randomUuid } from '../../src/lib/ids.ts'
import { silentLogger } from '../../src/lib/log.ts'
import type { Logger } from '../../src/lib/log.ts'
import type { Mail, Mailer } from '../../src/outgoing/mail.ts'
import { createOutgoing } from '../../src/outgoing/create-outgoing.ts'
import { hashPassword } from '../../src/passwords/password.ts'
import { createSpeechDirectory } from '../../src/directory/speech-credentials.ts'
import { createSpeech } from '../../src/speech/create-speech.ts'
import { createStorage } from '../../src/storage/create-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { describeSettings } from '../../src/config/config.ts'
import { parseVerbs, verbShapes, verbTexts } from '../../src/verbs/index.ts'
import type { RealmRecords } from '../../src/dns/dns.ts'
import type { AppEnv } from '../../src/webhooks/app-env.ts'
import { documented } from './documented.ts'
import { createLocalAwsS3 } from './bucket-vendors.ts'
import { storePlaces } from './store-places.ts'
import type { StorePlace } from './store-places.ts'
import type { StoreReader } from './store-reader.ts'

export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>
  /** The parsed body; undefined when there was none. */
  readonly body: never
  readonly text: string
  readonly bytes: Buffer
}

export interface ApiRequestOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface TestTenant {
  readonly service_provider_sid: string
  readonly account_sid: string
  readonly realm: string
  /** API keys. */
  readonly accountKey: string
  readonly providerKey: string
}

export interface TestApi extends Pick<StorePlace, 'contents'> {
  /** Reads the database beside the storage. */
  readonly query: StorePlace['query']
  /** Undefined on the embedded database. */
  readonly databaseUrl: string | undefined
  readonly http: HttpServer
  readonly dataDir: string
  readonly storage: Storage
  readonly clock: Clock
  readonly adminKey: string
  /** `sibling` shares the provider of `own`; `foreign` shares nothing with it. */
  readonly own: TestTenant
  readonly sibling: TestTenant
  readonly foreign: TestTenant
  readonly calls: LiveCall[]
  /** What dry runs were asked. */
  readonly dryRuns: { account_sid: string; question: DryQuestion }[]
  readonly queues: { account_sid: string; name: string; length: number }[]
  readonly journals: Map<string, readonly JournalEvent[]>
  /** By account. */
  readonly conferences: Map<string, LiveConference[]>
  readonly phones: RegisteredPhone[]
  readonly hungUp: string[]
  /** The calls that were asked for. */
  readonly placed: CallRequest[]
  /** Asked of live calls. */
  readonly commands: AskedCommands[]
  /** Sent by the platform. */
  readonly mails: Mail[]
  /** The speech cache: the account of each clip. */
  readonly clips: string[]
  readonly carriers: CarrierState
  isReady: boolean
  /** Not started: no one who does not need them waits for them. */
  readonly recordings: Recordings
  request(method: string, path: string, token?: string, options?: ApiRequestOptions): Promise<ApiAnswer>
  /** A second server over the same storage, which knows nothing of the first. */
  startAnother(): Pick<TestApi, 'request'>
  get(path: string, token?: string): Promise<ApiAnswer>
  post(path: string, token: string | undefined, body?: unknown): Promise<ApiAnswer>
  put(path: string, token: string | undefined, body?: unknown): Promise<ApiAnswer>
  delete(path: string, token?: string): Promise<ApiAnswer>
  /** Makes a user with this password and answers the token of its login. */
  logIn(user?: TestUser): Promise<string>
  close(): Promise<void>
}

export interface TestUser {
  readonly name?: string
  readonly account_sid?: string
  readonly service_provider_sid?: string
  readonly permissions?: readonly string[]
  readonly is_active?: 0 | 1
  readonly force_change?: 0 | 1
}

export const testPassword = 'correct horse battery staple'

/** What the watch over carriers would know. */
export interface CarrierState {
  readonly watched: Map<string, WatchedGateway>
  readonly resting: Set<string>
  /** By host; a gateway without one answers. */
  readonly pings: Map<string, Ping>
  /** Until a carrier may be tested again. */
  waitMs: number
  /** Called when a call was begun. */
  begun: (request: CallRequest, call_sid: string) => void
}

export interface TestApiOptions {
  readonly mail?: Mailer
  readonly rules?: OperatorRules
  /** Of keys and addresses; none when left out. */
  readonly rateLimits?: RateLimitRules
  readonly clock?: Clock
  readonly log?: Logger
  /** Applications publish nothing when left out. */
  readonly appEnv?: AppEnv
  readonly realms?: RealmRecords
  /** Of host names; no name leads anywhere when left out. */
  readonly realmFacts?: Partial<RealmFacts>
  /** Where phones are registered; the list `phones` when left out. */
  readonly bindings?: Bindings
  /** Makes of the storage what the API is given, where a test looks on or holds something back. */
  readonly wrapStorage?: (storage: Storage) => Storage
}

/** The power does not fail here; what survives that is tested in src/storage. */
const noSync = (): Promise<void> => Promise.resolve()

export async function openTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { clock = systemClock, log = silentLogger, wrapStorage = (storage) => storage } = options
  const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-api-'))
  const place = await storePlaces[inject('store')](dataDir)
  const storage = createStorage({ dataDir, databaseUrl: place.url, clock, log, sync: noSync })
  await storage.start()
  let reader: Promise<StoreReader> | undefined
  const live = createLiveState()
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log })
  const credentials = createSpeechDirectory({ storage, clock, log })
  const speech = createSpeech({ cacheDir: join(dataDir, 'cache'), outgoing, credentials, clock, log })
  const makers = [createLocalAwsS3, createS3Compatible, createAzure]
  const buckets = createBuckets({ outgoing, clock: systemClock, log, makers })
  const recordings = createRecordings({
    dataDir,
    store: storage.recordings,
    calls: storage.calls,
    isShared: () => storage.isShared,
    bucketOf: createAccountBuckets(storage),
    put: ({ key, contentType, file, account_sid, credential, signal }) =>
      buckets.put(
        { key, contentType, content: file },
        { account_sid, credential: { ...credential }, signal },
      ),
    discard: ({ key, account_sid, credential, signal }) =>
      buckets.discard(key, { account_sid, credential: { ...credential }, signal }),
    alerts: storage.alerts,
    limits: { spoolBytes: 100_000_000, accountBytes: 100_000_000, days: 0 },
    clock,
    log,
  })
  let isReady = true
  const serve = (): HttpServer =>
    createApi({
      bind: '127.0.0.1',
      port: 0,
      storage: wrapStorage(storage),
      calls: live.engine,
      trunks: live.trunks,
      bindings: options.bindings ?? live.bindings,
      speech,
      buckets,
      recordings,
      resets,
      realms: options.realms,
      realmFacts: {
        reserved: new Set(),
        zone: undefined,
        leadsToUs: async () => false,
        texts: async () => [],
        isCalledByOthers: async () => false,
        ...options.realmFacts,
      },
      appEnv: options.appEnv ?? { ask: async () => ({ outcome: 'none' }) },
      speechCache: { ...live.speechCache, keep: (...wish) => speech.cache.keep(...wish) },
      parseVerbs,
      verbs: verbTexts,
      verbShapes,
      settings: describeSettings(),
      isReady: () => isReady,
      ...(options.rules === undefined ? {} : { rules: options.rules }),
      ...(options.rateLimits === undefined ? {} : { rateLimits: options.rateLimits }),
      clock,
      log,
    })
  const resets = createPasswordResets({
    storage,
    mail: options.mail ?? {
      isConfigured: true,
      async send(mail) {
        live.mails.push(mail)
      },
    },
    portalUrl: () => 'https://portal.example.com',
    clock,
    log,
  })
  await resets.start()
  const http = serve()
  const others: HttpServer[] = []
  const tenants = await createTenants(storage)
  const request = createRequester(http)

  return {
    http,
    dataDir,
    contents: () => place.contents(),
    async query(sql) {
      reader ??= place.openReader()
      return (await reader).query(sql)
    },
    databaseUrl: place.url,
    storage,
    recordings,
    clock,
    ...tenants,
    calls: live.calls,
    queues: live.queues,
    journals: live.journals,
    conferences: live.conferences,
    phones: live.phones,
    hungUp: live.hungUp,
    placed: live.placed,
    commands: live.commands,
    dryRuns: live.dryRuns,
    mails: live.mails,
    clips: live.clips,
    carriers: live.carriers,
    get isReady() {
      return isReady
    },
    set isReady(value) {
      isReady = value
    },
    request,
    startAnother() {
      const other = serve()
      others.push(other)
      return { request: createRequester(other) }
    },
    get: (path, token) => request('GET', path, token),
    post: (path, token, body) => request('POST', path, token, { body }),
    put: (path, token, body) => request('PUT', path, token, { body }),
    delete: (path, token) => request('DELETE', path, token),
    async logIn(user = {}) {
      const name = await createUser(storage, user)
      const answer = await request('POST', '/login', undefined, {
        body: { username: name, password: testPassword },
      })
      return (answer.body as { token: string }).token
    },
    async close() {
      for (const server of [http, ...others]) await server.stop()
      await resets.stop()
      await speech.stop()
      await outgoing.close()
      await (await reader)?.close()
      await storage.stop()
      await place.remove()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function createRequester(http: HttpServer): TestApi['request'] {
  return async (method, path, token, { body, headers = {} } = {}) => {
    const answer = await http.inject({
      method: method as 'GET',
      url: path.startsWith('//') ? path.slice(1) : `/v1${path}`,
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    })
    const text = answer.body
    const contentType = String(answer.headers['content-type'] ?? 'application/json')
    const isJson = contentType.startsWith('application/json')
    const parsed: unknown = text === '' ? undefined : isJson ? JSON.parse(text) : text
    const observed = { status: answer.statusCode, body: parsed, contentType }
    const fault = path.startsWith('//') ? undefined : documented().faultOf(method, path, observed)
    if (fault !== undefined)
      throw new Error(`${method} ${path} answered what the OpenAPI document does not say: ${fault}\n${text}`)
    return {
      status: answer.statusCode,
      headers: answer.headers as ApiAnswer['headers'],
      text,
      bytes: answer.rawPayload,
      body: parsed as never,
    }
  }
}

// One hash for all users of a test run: making one costs tens of milliseconds.
let hashed: Promise<string> | undefined

export async function createUser(storage: Storage, user: TestUser = {}): Promise<string> {
  hashed ??= hashPassword(testPassword)
  const { name = `user-${createSid()}`, permissions = ['PROVISION_USERS'], ...rest } = user
  await storage.for(systemTenancy).users.insert({
    name,
    email: `${name}@example.com`,
    hashed_password: await hashed,
    permissions: JSON.stringify(permissions),
    ...rest,
  })
  return name
}

async function createTenants(
  storage: Storage,
): Promise<Pick<TestApi, 'adminKey' | 'own' | 'sibling' | 'foreign'>> {
  const rows = storage.for(systemTenancy)
  const { service_provider_sid: ours } = await rows.service_providers.insert({ name: 'ours' })
  const { service_provider_sid: theirs } = await rows.service_providers.insert({ name: 'theirs' })
  return {
    adminKey: await createKey(storage, {}),
    own: await createTenant(storage, ours, 'own'),
    sibling: await createTenant(storage, ours, 'sibling'),
    foreign: await createTenant(storage, theirs, 'foreign'),
  }
}

async function createTenant(
  storage: Storage,
  service_provider_sid: string,
  name: string,
): Promise<TestTenant> {
  const realm = `${name}.sip.example.com`
  const { account_sid } = await storage
    .for(systemTenancy)
    .accounts.insert({ name, service_provider_sid, sip_realm: realm, webhook_secret: `wh_secret_${name}` })
  return {
    service_provider_sid,
    account_sid,
    realm,
    accountKey: await createKey(storage, { account_sid }),
    providerKey: await createKey(storage, { service_provider_sid }),
  }
}

export async function createKey(
  storage: Storage,
  row: { account_sid?: string; service_provider_sid?: string; expires_at?: number },
): Promise<string> {
  const token = randomUuid()
  await storage.for(systemTenancy).api_keys.insert({ ...apiKeyColumns(token), ...row })
  return token
}

const answeredPing: Ping = { at: 1, isAnswered: true, reason: '200 OK', status: 200, delayMs: 5 }

/** What the call engine and the registrar would know. */
function createLiveState() {
  const calls: LiveCall[] = []
  const queues: TestApi['queues'] = []
  const phones: RegisteredPhone[] = []
  const hungUp: string[] = []
  const placed: CallRequest[] = []
  const commands: AskedCommands[] = []
  const dryRuns: TestApi['dryRuns'] = []
  const mails: Mail[] = []
  const keep = (isKept: (phone: RegisteredPhone) => boolean): void =>
    void phones.splice(0, phones.length, ...phones.filter(isKept))
  const clips: string[] = []
  const carriers: CarrierState = {
    watched: new Map(),
    resting: new Set(),
    pings: new Map(),
    waitMs: 0,
    begun: () => undefined,
  }
  const journals = new Map<string, readonly JournalEvent[]>()
  const conferences = new Map<string, LiveConference[]>()
  const find = (account_sid: string, call_sid: string): LiveCall | undefined =>
    calls.find((call) => call.account_sid === account_sid && call.call_sid === call_sid)
  return {
    calls,
    queues,
    phones,
    hungUp,
    placed,
    commands,
    dryRuns,
    mails,
    clips,
    carriers,
    trunks: {
      watched: (sid: string) => carriers.watched.get(sid),
      isUp: (sid: string) => !carriers.resting.has(sid),
      ping: async ({ host }: TrunkGateway) => carriers.pings.get(host) ?? answeredPing,
      takeTest: () => carriers.waitMs,
    },
    speechCache: {
      size: async (account_sid?: string) =>
        account_sid === undefined ? clips.length : clips.filter((owner) => owner === account_sid).length,
      async clear(account_sid?: string) {
        const kept = clips.filter((owner) => account_sid !== undefined && owner !== account_sid)
        clips.splice(0, clips.length, ...kept)
      },
    },
    journals,
    conferences,
    engine: {
      conferences: (account_sid: string) => conferences.get(account_sid) ?? [],
      list: (account_sid: string) => calls.filter((call) => call.account_sid === account_sid),
      listOfProvider: (service_provider_sid: string) =>
        calls.filter((call) => call.service_provider_sid === service_provider_sid),
      find,
      queues: (account_sid: string) =>
        queues
          .filter((queue) => queue.account_sid === account_sid)
          .map(({ name, length }) => ({ name, length })),
      count(account_sid: string) {
        const mine = calls.filter((call) => call.account_sid === account_sid)
        const inbound = mine.filter(({ direction }) => direction === 'inbound').length
        return { inbound, outbound: mine.length - inbound }
      },
      async dryRun(account_sid: string, question: DryQuestion): Promise<DryRun> {
        dryRuns.push({ account_sid, question })
        const code = 'no_carrier'
        const refusal = { code, sentence: 'no carrier takes it', cure: 'Add one.', sip_status: 603 }
        const sentence = 'No carrier.'
        const decision = {
          type: 'decision',
          rule: 'phone-no-carrier',
          sentence,
          outcome: 'refused',
          code,
        } as const
        return { outcome: 'refused', decisions: [decision], refusal, attempts: [], assumptions: [] }
      },
      outboundUsage: () => ({
        calls_per_second: 0,
        calls_per_minute: 0,
        concurrent_calls: calls.length,
        minutes_per_day: 0.5,
      }),
      journal: (account_sid: string, call_sid: string) =>
        find(account_sid, call_sid) === undefined ? undefined : journals.get(call_sid),
      async prepare(request: CallRequest) {
        const call_sid = createSid()
        return {
          call_sid,
          call_id: `call-${placed.length + 1}`,
          begin: async () => {
            placed.push(request)
            carriers.begun(request, call_sid)
          },
        }
      },
      async command(account_sid: string, call_sid: string, asked: AskedCommands) {
        const call = find(account_sid, call_sid)
        if (call === undefined || call.call_status === 'completed') return undefined
        commands.push(asked)
        return asked['sip_request'] === undefined ? {} : { response: { status: 200, reason: 'OK' } }
      },
      async hangUp(account_sid: string, call_sid: string) {
        if (find(account_sid, call_sid) === undefined) return false
        hungUp.push(call_sid)
        return true
      },
    },
    bindings: {
      get: async (aor: string) => phones.filter((phone) => phone.aor === aor),
      list: async (realm: string) => phones.filter(({ aor }) => aor.endsWith(`@${realm}`)),
      async remove(aor: string) {
        keep((phone) => phone.aor !== aor)
      },
      async forget(realm: string) {
        keep(({ aor }) => !aor.endsWith(`@${realm}`))
      },
    },
  }
}
