// The API on the HTTP server: services, authentication, every declared endpoint, and the OpenAPI document.
import { createAuthenticator } from '../http/authentication.ts'
import { createLoginThrottle } from '../http/limits/login-throttle.ts'
import { jsonType } from '../http/response-headers.ts'
import type { HttpPage } from '../http/route.ts'
import { createRateLimits } from '../http/limits/rate-limits.ts'
import { RequestTime } from '../http/limits/request-time.ts'
import { createHttp } from '../http/create-http.ts'
import type { HttpServer } from '../http/http.ts'
import type { Tokens } from '../http/tokens.ts'
import { systemTenancy, type RequestQuota } from '../contracts/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { randomToken } from '../lib/ids.ts'
import type { Alert } from '../contracts/alert.ts'
import type { Storage } from '../storage/storage.ts'
import { noRealmRecords } from '../dns/dns.ts'
import type { ApiOptions } from './api.ts'
import { createRouteBinder } from './define/bind-route.ts'
import type { ApiStorage, Services } from './services.ts'
import { createListMemo } from './define/list-memo.ts'
import { createListTurns } from './define/list-turns.ts'
import { noOperatorRules } from './define/operator-rules.ts'
import { createShapeCompiler } from './define/shape.ts'
import { createDocsPages } from './docs/pages.ts'
import { conferenceListenRoutes } from './calls/conference-listen.ts'
import { apiRoutes } from './index.ts'
import { createOpenApi } from './openapi/create-openapi.ts'
import type { Json } from './openapi/json.ts'
import { createCredentialSource } from './logins/credentials.ts'
import { createLockOutReport } from './logins/lock-outs.ts'
import { verbsFault } from './define/app-json.ts'
import { readExamples } from './openapi/examples.ts'

export function createApi(options: ApiOptions): HttpServer {
  const { bind, port, isReady, clock, log } = options
  const tokens = createLateTokens(options.storage, clock)
  const { refusesPublished } = options.rules ?? noOperatorRules
  const source = createCredentialSource({ storage: options.storage, log, refusesPublished })
  const authenticator = createAuthenticator({
    source,
    tokens,
    clock,
    revision: () => revisionOfCallers(options.storage),
  })
  const requestTime = new RequestTime({ clock, load: options.mainThreadLoad ?? (() => 0) })
  const services: Services = {
    storage: options.storage,
    lists: createListMemo(options.storage, clock),
    listTurns: createListTurns(options.sharePercent, (tenant) => requestTime.demand(tenant)),
    calls: options.calls,
    trunks: options.trunks,
    bindings: options.bindings,
    speech: options.speech,
    buckets: options.buckets,
    recordings: options.recordings,
    verbsFault: (verbs) => verbsFault(options.readVerbs, verbs),
    tokens,
    throttle: createLoginThrottle({ clock, derive: options.derive, onLockOut: createLockOutReport(options) }),
    resets: options.resets,
    speechCache: options.speechCache,
    appEnv: options.appEnv,
    realms: options.realms ?? noRealmRecords,
    realmFacts: options.realmFacts,
    rules: options.rules ?? noOperatorRules,
    clock,
    log,
  }
  const bindRoute = createRouteBinder({ services, storage: options.storage, compile: createShapeCompiler() })
  const document = createLateDocument()
  const routes = [...apiRoutes.map(bindRoute), ...conferenceListenRoutes]
  const pages = [...createDocsPages(document), createDocumentPage(document)]
  const { rateLimits = { perKey: 0, perAddress: 0 }, trustedProxies } = options
  return createHttp({
    bind,
    port,
    secure: options.secure,
    webSockets: options.webSockets,
    acmeAnswer: options.acmeAnswer,
    prefix: '/v1',
    routes,
    pages,
    authenticator,
    rateLimits: createRateLimits({
      ...rateLimits,
      clock,
      onQuotaRefused: (quota) => options.storage.alerts.raise(toAlert(quota)),
    }),
    requestTime,
    trustedProxies,
    isReady,
    unready: options.unready,
    trouble: options.trouble,
    clock,
    log,
  })
}

function toAlert({ owner, perMinute }: RequestQuota): Alert {
  const alert_type = 'account_sid' in owner ? 'account-api-limit' : 'service-provider-api-limit'
  return { ...owner, alert_type, message: `more than ${perMinute} requests a minute` }
}

/** Returns a document that is made when it is first read, so that a start pays neither time nor memory for it. */
function createLateDocument(): () => Json {
  let made: Json | undefined
  return () => (made ??= createOpenApi(apiRoutes, readExamples()))
}

function createDocumentPage(document: () => Json): HttpPage {
  return {
    path: '/v1/openapi.json',
    mediaType: jsonType,
    render: () => JSON.stringify(document()),
  }
}

/** Returns a number that rises when callers' rights change. A new row changes no known caller, except a new limit. */
function revisionOfCallers(storage: ApiStorage): number {
  return storage.revisionOfKnown(callerTables) + storage.revision(limitTables)
}

const callerTables = ['accounts', 'api_keys', 'service_providers', 'user_sessions', 'users'] as const
const limitTables = ['limits'] as const

const secretName = 'jwt_secret'
const secretBytes = 32

/**
 * The secret is in storage, which is not open yet when the server is made: it is read once, at the first use. The code
 * that signs is loaded then too.
 */
function createLateTokens(storage: Pick<Storage, 'for' | 'transaction'>, clock: Clock): Tokens {
  let made: Promise<Tokens> | undefined
  const tokens = (): Promise<Tokens> => {
    made ??= openTokens(storage, clock)
    // After a failure, the database is read again.
    made.catch(() => {
      made = undefined
    })
    return made
  }
  return {
    issue: async (subject, claims) => (await tokens()).issue(subject, claims),
    verify: async (token) => (await tokens()).verify(token),
  }
}

async function openTokens(storage: Pick<Storage, 'transaction'>, clock: Clock): Promise<Tokens> {
  const { createTokens } = await import('../http/create-tokens.ts')
  return createTokens(await readSecret(storage), clock)
}

function readSecret(storage: Pick<Storage, 'transaction'>): Promise<string> {
  return storage.transaction(systemTenancy, async ({ settings }) => {
    const stored = await settings.find(secretName)
    if (stored !== undefined) return stored.value
    const made = await settings.insert({ name: secretName, value: randomToken(secretBytes) })
    return made.value
  })
}
