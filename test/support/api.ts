// A platform for API tests: the real HTTP server over the store of the running vitest project, with two providers,
// their accounts and a client with each kind of credentials. Calls and registrations are lists that a test fills.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { noOperatorRules } from '../../src/api/define/operator-rules.ts'
import { createApi } from '../../src/api/create-api.ts'
import type { Bindings, OperatorRules } from '../../src/api/services.ts'
import type { RealmFacts } from '../../src/contracts/realm-facts.ts'
import { createPasswordResets } from '../../src/api/logins/password-resets.ts'
import { createAzure } from '../../src/buckets/azure.ts'
import { createBuckets } from '../../src/buckets/create-buckets.ts'
import { createStoredRecordings } from '../../src/parts/recordings.ts'
import type { Recordings } from '../../src/recordings/recordings.ts'
import { createS3Compatible } from '../../src/buckets/s3.ts'
import type { RateLimitRules } from '../../src/http/limits/rate-limits.ts'
import type { HttpServer } from '../../src/http/http.ts'
import { systemClock, type Clock } from '../../src/lib/clock.ts'
import { silentLogger, type Logger } from '../../src/lib/log.ts'
import type { Mailer } from '../../src/outgoing/mail.ts'
import { createOutgoing } from '../../src/outgoing/create-outgoing.ts'
import { createSpeechDirectory } from '../../src/directory/speech-credentials.ts'
import { createSpeech } from '../../src/speech/create-speech.ts'
import { createStorage } from '../../src/storage/create-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { parseVerbs } from '../../src/verbs/index.ts'
import type { RealmRecords } from '../../src/dns/dns.ts'
import type { AppEnv } from '../../src/webhooks/app-env.ts'
import { createRequester, type ApiAnswer, type ApiRequester } from './api-request.ts'
import { createTenants, createUser, testPassword, type TestTenants, type TestUser } from './api-tenants.ts'
import { createLiveState, type LiveLists } from './live-state.ts'
import { createLocalAwsS3 } from './s3-bucket.ts'
import { storePlaces, type StorePlace } from './store-places.ts'
import type { StoreReader } from './store-reader.ts'

export interface TestApi extends Pick<StorePlace, 'contents'>, TestTenants, LiveLists {
  /** Queries the database directly, past the storage. */
  readonly query: StorePlace['query']
  /** Undefined on the embedded database. */
  readonly databaseUrl: string | undefined
  readonly http: HttpServer
  readonly dataDir: string
  readonly storage: Storage
  readonly clock: Clock
  isReady: boolean
  /** Not started, so that only tests that need them wait for them. */
  readonly recordings: Recordings
  readonly request: ApiRequester
  /** Starts a second server over the same storage, which shares no state with the first. */
  startAnother(): Pick<TestApi, 'request'>
  get(path: string, token?: string): Promise<ApiAnswer>
  post(path: string, token: string | undefined, body?: unknown): Promise<ApiAnswer>
  put(path: string, token: string | undefined, body?: unknown): Promise<ApiAnswer>
  delete(path: string, token?: string): Promise<ApiAnswer>
  /** Creates a user with this password and returns the token of its login. */
  logIn(user?: TestUser): Promise<string>
  close(): Promise<void>
}

export interface TestApiOptions {
  readonly mail?: Mailer
  /** Those that are not given have no effect. */
  readonly rules?: Partial<OperatorRules>
  /** The limits per key and per address; none by default. */
  readonly rateLimits?: RateLimitRules
  readonly mainThreadLoad?: () => number
  readonly sharePercent?: number
  readonly clock?: Clock
  readonly log?: Logger
  /** The variables that applications publish; none by default. */
  readonly appEnv?: AppEnv
  readonly realms?: RealmRecords
  /** The DNS facts about host names; by default no name resolves. */
  readonly realmFacts?: Partial<RealmFacts>
  /** The registered phones; the list `phones` by default. */
  readonly bindings?: Bindings
  /** Wraps the storage that the API is given, for tests that observe or delay its operations. */
  readonly wrapStorage?: (storage: Storage) => Storage
}

/** Skips the sync to disk: no test here simulates a power failure; those in src/storage do. */
const noSync = (): Promise<void> => Promise.resolve()

export async function openTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { clock = systemClock, log = silentLogger, wrapStorage = (storage) => storage } = options
  const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-api-'))
  const place = await storePlaces[inject('store')](dataDir)
  const databaseTime = async (): Promise<number> => clock.now()
  const storage = createStorage({ dataDir, databaseUrl: place.url, clock, databaseTime, log, sync: noSync })
  await storage.start()
  let reader: Promise<StoreReader> | undefined
  const live = createLiveState()
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log })
  const credentials = createSpeechDirectory({ storage, clock, log })
  const speech = createSpeech({ cacheDir: join(dataDir, 'cache'), outgoing, credentials, clock, log })
  const makers = [createLocalAwsS3, createS3Compatible, createAzure]
  const buckets = createBuckets({ outgoing, clock: systemClock, log, makers })
  const recordings = createStoredRecordings({
    dataDir,
    storage,
    buckets,
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
      readVerbs: async (list) => parseVerbs(list),
      isReady: () => isReady,
      rules: { ...noOperatorRules, ...options.rules },
      ...(options.sharePercent === undefined ? {} : { sharePercent: options.sharePercent }),
      ...(options.rateLimits === undefined ? {} : { rateLimits: options.rateLimits }),
      mainThreadLoad: options.mainThreadLoad,
      clock,
      log,
    })
  const resets = createPasswordResets({
    storage,
    mail: options.mail ?? {
      isConfigured: true,
      async send(mail) {
        live.lists.mails.push(mail)
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
    ...live.lists,
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
