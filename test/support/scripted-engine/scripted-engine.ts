// The engine with everything around it scripted: what a deterministic test of a race needs.
import { createFakeClock } from '../fake-clock.ts'
import type { FakeClock } from '../fake-clock.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import type { Authentication, Binding, Remote, Resolved } from '../../../src/sip/sip.ts'
import type {
  CallHandlers,
  CallRequest,
  Calls,
  CallsOptions,
  PreparedCall,
} from '../../../src/calls/calls.ts'
import { createOrderReader } from '../../../src/api/calls/read-order.ts'
import { createCalls } from '../../../src/calls/create-calls.ts'
import type { CallBatch, CallStore, JournalEvent } from '../../../src/calls/journal/journal.ts'
import type {
  AccountFacts,
  ApplicationFacts,
  CallLimits,
  CarrierFacts,
  CarrierMatch,
  ClientFacts,
  DialPlan,
  NumberFacts,
  NumberPattern,
  OutboundCarrier,
  TeamsTenantFacts,
} from '../../../src/calls/ports.ts'
import type { CallDefence } from '../../../src/calls/defence/defence-settings.ts'
import type { BorrowedClip } from '../../../src/contracts/speech.ts'
import type { CallStoreListener, RecentCall, UnfinishedCall } from '../../../src/contracts/call-record.ts'
import type { Hook, HookAnswer, HookRequest, Hooks } from '../../../src/contracts/hook.ts'
import type {
  IdentityFinding,
  IdentityQuestion,
  IdentityStatement,
} from '../../../src/contracts/number-trust.ts'
import type { Recorder, RecordingEnd, RecordingOrder } from '../../../src/contracts/recording.ts'
import { createUriResolver } from '../../../src/sip/resolve.ts'
import { createRing } from '../../../src/lib/audio-ring.ts'
import type { Ring } from '../../../src/lib/audio-ring.ts'
import type { ParseVerbs } from '../../../src/calls/verb.ts'
import { readCommands, readFrame } from '../../../src/commands/index.ts'
import { createScriptedDirectory } from './scripted-directory.ts'
import { ScriptedSockets } from './scripted-sockets.ts'
import { clipOf, ScriptedMedia } from './scripted-media.ts'
import { ScriptedStreams } from './scripted-streams.ts'
import { ScriptedInvite, ScriptedOutgoing } from './scripted-sip.ts'
import type { ScriptedInviteOptions } from './scripted-sip.ts'

export const account: AccountFacts = {
  account_sid: 'a0000000-0000-4000-8000-000000000001',
  service_provider_sid: 'b0000000-0000-4000-8000-000000000001',
  sip_realm: 'example.com',
  is_active: true,
  device_calling_application_sid: null,
  siprec_hook_sid: null,
  disable_cdrs: false,
  ringing_after_ms: null,
  sensitive_digits: false,
  enable_debug_log: false,
  record_all_calls: false,
  record_format: 'mp3',
}

export const client: ClientFacts = {
  client_sid: 'c0000000-0000-4000-8000-000000000001',
  username: 'alice',
  is_active: true,
  allow_direct_app_calling: true,
  allow_direct_queue_calling: true,
  allow_direct_user_calling: true,
}

const hook = (path: string) =>
  ({ url: `http://app.test${path}`, method: 'POST', username: 'u', password: 'p' }) as const

export const application: ApplicationFacts = {
  application_sid: 'd0000000-0000-4000-8000-000000000001',
  account_sid: account.account_sid,
  call_hook: hook('/call'),
  call_status_hook: hook('/status'),
  app_json: null,
  speech_synthesis_vendor: null,
  speech_synthesis_language: 'en-US',
  speech_synthesis_voice: null,
  speech_synthesis_label: null,
  speech_recognizer_vendor: null,
  speech_recognizer_language: null,
  speech_recognizer_label: null,
  env_vars: { GREETING: 'hello' },
  record_all_calls: false,
}

/** Keeps batches as storage would: the first record of a leg counts. */
export class MemoryCallStore implements CallStore {
  readonly batches: CallBatch[] = []
  /** Calls of a dead node. */
  readonly left: UnfinishedCall[] = []
  listener: CallStoreListener | undefined

  write(batch: CallBatch): void {
    this.batches.push(batch)
  }

  flush(): Promise<void> {
    return Promise.resolve()
  }

  adopt(): Promise<readonly UnfinishedCall[]> {
    return Promise.resolve(this.left.splice(0))
  }

  watch(listener: CallStoreListener): void {
    this.listener = listener
  }

  /** The node dies: the calls that it has not closed are left to be adopted. */
  abandon(): void {
    const isClosing = ({ record, ended }: CallBatch): boolean => record !== undefined || ended === true
    const closed = new Set(this.batches.filter(isClosing).map(({ call_sid }) => call_sid))
    const open = this.batches.filter(({ call_sid }) => !closed.has(call_sid))
    for (const { call_sid, account_sid } of new Map(open.map((batch) => [batch.call_sid, batch])).values())
      this.left.push({ call_sid, account_sid, events: this.journalOf(call_sid) })
  }

  /** Every record handed over, duplicates included. */
  get records(): RecentCall[] {
    return this.batches.flatMap(({ record }) => (record === undefined ? [] : [record]))
  }

  /** Every event of a call that was handed over. */
  journalOf(call_sid: string): readonly JournalEvent[] {
    return this.batches.filter((batch) => batch.call_sid === call_sid).flatMap(({ events }) => events)
  }

  get notifications(): Record<string, unknown>[] {
    return this.batches.flatMap(({ notifications }) =>
      notifications.map(({ payload }) => payload as Record<string, unknown>),
    )
  }

  get statuses(): unknown[] {
    return this.notifications.map((payload) => payload['call_status'])
  }
}

type Answer = (request: HookRequest) => Promise<unknown>

/** Answers by path; a path without an answer says nothing. */
export class ScriptedHooks implements Hooks {
  readonly asked: HookRequest[] = []
  readonly answers = new Map<string, Answer>()

  /** `body` as the parsed JSON of a 200. */
  on(path: string, body: unknown): void {
    this.answers.set(path, () => Promise.resolve(body))
  }

  payloadsOf(path: string): Record<string, unknown>[] {
    return this.asked
      .filter(({ hook: { url } }) => new URL(url).pathname === path)
      .map(({ payload }) => payload as Record<string, unknown>)
  }

  /** In place of the answer's own facts. */
  facts: Partial<HookAnswer> = {}

  async ask(request: HookRequest): Promise<HookAnswer> {
    this.asked.push(request)
    const url = new URL(request.hook.url)
    const body = await this.answers.get(url.pathname)?.(request)
    request.signal?.throwIfAborted()
    url.hash = ''
    return { url: url.href, status: 200, durationMs: 1, attempts: 1, body, ...this.facts }
  }
}

/** An answer that comes when the test says so, or never once the question is withdrawn. */
export function heldAnswer(): { answer: Answer; release: (body: unknown) => void } {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const answer: Answer = ({ signal }) =>
    Promise.race([
      promise,
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
    ])
  return { answer, release: resolve }
}

export interface ScriptedEngine {
  readonly clock: FakeClock
  readonly calls: Calls & CallHandlers
  readonly store: MemoryCallStore
  readonly hooks: ScriptedHooks
  readonly sockets: ScriptedSockets
  readonly media: ScriptedMedia
  readonly streams: ScriptedStreams
  /** Clips lent out and not given back. */
  readonly lent: Set<BorrowedClip>
  authentication: Authentication
  account: AccountFacts | undefined
  accountsKnown?: Promise<void>
  /** Whose carriers and numbers there are besides. */
  readonly otherAccounts: AccountFacts[]
  client: ClientFacts | undefined
  /** Whether a hook decides about users, besides its clients. */
  hasRegistrationHook: boolean
  application: ApplicationFacts | undefined
  limits: CallLimits
  /** Undefined: that of an account that has chosen nothing. */
  defence: CallDefence | undefined
  /** What is sent who joins and leaves a queue. */
  queueEventHook: Hook | null
  /** At whatever address. */
  carriers: readonly CarrierMatch[]
  /** The one that has a password. */
  peer: CarrierFacts | undefined
  numbers: readonly NumberFacts[]
  patterns: readonly NumberPattern[]
  waysOut: readonly OutboundCarrier[]
  /** Account and host name of calls from carriers. */
  readonly hostsCalled: [account_sid: string, host: string][]
  /** Our address as this one sees it; as one that is not known yet does. */
  localAddress: (remote: string | undefined) => string
  /** The realm and address that a user has proved itself at. */
  knownAt: string | undefined
  /** The gateway over which the platform is registered with a carrier, and the Service-Route that it was given. */
  readonly registeredOver: Map<string, string>
  readonly serviceRoutes: Map<string, readonly string[]>
  readonly gatewaysDown: Set<string>
  /** Whether SIP over TLS is served. */
  hasTls: boolean
  teamsTenants: readonly TeamsTenantFacts[]
  /** Why the platform cannot speak to Microsoft Teams. */
  teamsFault: string | undefined
  /** What calls have found out of gateways. */
  readonly gatewaySigns: string[]
  readonly identitiesAsked: IdentityQuestion[]
  readonly identitiesSigned: IdentityStatement[]
  identityFound: IdentityFinding
  /** Calls get an Identity header. */
  signs: boolean
  dialPlan: DialPlan | undefined
  /** The phones that are registered, by address of record. */
  readonly phones: Map<string, readonly Binding[]>
  /** Where the INVITE for a phone goes, by default where it registered from. */
  reach: (binding: Binding) => Promise<Remote>
  /** Opens a connection over TLS. */
  open: (remote: Remote) => Promise<void>
  /** Where else a URI leads, and which addresses were found to say nothing. */
  elsewhere: (uri: string) => Pick<Resolved, 'alternatives'>
  readonly resting: string[]
  /** For which addresses carriers were looked up. */
  readonly carriersAskedAt: string[]
  /** The INVITEs that were sent. */
  readonly sent: ScriptedOutgoing[]
  /** How long a text lasts, by default 1 s; throws what a test wants thrown. */
  speak: (text: string) => number
  fetch: (url: string) => number
  /** Rings with an INVITE, by default to the application. */
  ring(options?: Partial<ScriptedInviteOptions>): ScriptedInvite
}

/** Records nothing, and refuses nothing. */
export function scriptedRecorder(): ScriptedRecorder {
  const recorder: ScriptedRecorder = {
    begun: [],
    async begin(order, listener) {
      await Promise.resolve()
      const ring = createRing({ samples: 320 })
      const masks: boolean[] = []
      const ended = Promise.withResolvers<RecordingEnd>()
      const end: RecordingEnd = { bytes: 32_000, durationMs: 1000 }
      recorder.begun.push({ order, masks, ring, fail: (reason) => listener.ended(reason), gap: listener.gap })
      const key = `2026/11/21/${order.call_sid}.${order.format}`
      return {
        key,
        spool: 'here',
        ring,
        mask: (isMasked) => void masks.push(isMasked),
        async end() {
          ended.resolve(end)
          return ended.promise
        },
      }
    },
  }
  return recorder
}

export interface ScriptedRecorder extends Recorder {
  readonly begun: {
    readonly order: RecordingOrder
    readonly masks: boolean[]
    readonly ring: Ring
    readonly fail: (reason: string) => void
    readonly gap: (ms: number) => void
  }[]
}

export function createScriptedEngine(
  parseVerbs: ParseVerbs,
  options: Partial<CallsOptions> = {},
): ScriptedEngine {
  const clock = createFakeClock()
  const store = new MemoryCallStore()
  const hooks = new ScriptedHooks()
  const sockets = new ScriptedSockets()
  const media = new ScriptedMedia(clock)
  const lent = new Set<BorrowedClip>()
  const phones = new Map<string, readonly Binding[]>()
  const streams = new ScriptedStreams()
  const sent: ScriptedOutgoing[] = []
  let ringing = 0
  const lend = async (lengthMs: () => number): Promise<BorrowedClip> => {
    await Promise.resolve()
    const clip: BorrowedClip = { ...clipOf(lengthMs()), release: () => void lent.delete(clip) }
    lent.add(clip)
    return clip
  }
  const resolve = createUriResolver({
    // There are no names.
    lookup: () => Promise.resolve([]),
    bind: '0.0.0.0',
    serves: (transport) => transport !== 'tls' || engine.hasTls,
  })
  const calls = createCalls({
    sip: () => ({
      authenticate: () => Promise.resolve(engine.authentication),
      drain: () => undefined,
      addressFor: (remote) => ({ host: engine.localAddress(remote?.address), port: 5060 }),
      listening: { address: '0.0.0.0', port: 5060 },
      bindings: {
        get: (aor) => Promise.resolve(phones.get(aor) ?? []),
        find: (aor) => Promise.resolve(phones.get(aor) ?? []),
        put: () => Promise.resolve(),
        touch: () => undefined,
        remove: () => Promise.resolve(),
        forget: () => Promise.resolve(),
        list: () => Promise.resolve([...phones.values()].flat()),
        boundTo: ({ address, port }) =>
          [...phones.values()]
            .flat()
            .filter(({ remote }) => remote.address === address && remote.port === port),
      },
      hasUserAt: (realm, address) => engine.knownAt === `${realm} ${address}`,
      reach: (binding) => engine.reach(binding),
      resolve: async (uri) => ({ ...(await resolve(uri)), ...engine.elsewhere(uri) }),
      rest: ({ address }) => void engine.resting.push(address),
      open: (remote) => engine.open(remote),
      invite(inviteOptions) {
        const invite = new ScriptedOutgoing(inviteOptions)
        sent.push(invite)
        return invite
      },
    }),
    media,
    recorder: scriptedRecorder(),
    reservesCarriers: false,
    isAllowedAddress: (address) => address.startsWith('192.0.2.'),
    carrierCalled: ({ account_sid }, host) => void engine.hostsCalled.push([account_sid, host]),
    isAllowedHop: (address) => address.startsWith('192.0.2.'),
    isSipProxy: (address) => address === '10.0.0.1' || address === '192.0.2.250',
    directory: createScriptedDirectory(() => engine),
    teams: {
      proxies: [1, 2, 3].map((n) => ({ host: `192.0.2.20${n}`, port: 5061 })),
      isAddress: (address) => /^192\.0\.2\.20[123]$/.test(address),
      demandReady: (fqdn) => {
        if (engine.teamsFault !== undefined)
          throw new AppError('teams_not_ready', `${engine.teamsFault} ${fqdn}`)
      },
    },
    trunks: {
      registeredOver: (sid) => engine.registeredOver.get(sid),
      routesOf: (sid) => engine.serviceRoutes.get(sid) ?? [],
      isUp: (sid) => !engine.gatewaysDown.has(sid),
      noted: (sid, { kind }) => void engine.gatewaySigns.push(`${sid}: ${kind}`),
    },
    numberTrust: {
      verify: async (question) => {
        engine.identitiesAsked.push(question)
        return engine.identityFound
      },
      sign: (statement) => {
        engine.identitiesSigned.push(statement)
        return engine.signs ? { identity: `signed ${statement.attest}`, date: 'now' } : undefined
      },
    },
    hooks,
    store,
    speech: {
      synthesize: async ({ text, vendor, voice }) => {
        const clip = await lend(() => engine.speak(text))
        const isVendorMissing = vendor === 'absent' && voice !== 'absent'
        return Object.assign(clip, {
          fallback: isVendorMissing || voice === 'absent',
          isVendorMissing,
          ...(isVendorMissing ? { note: `there is no ${vendor}` } : {}),
        })
      },
      warm: () => undefined,
    },
    audio: { fetch: (url) => lend(() => engine.fetch(url)) },
    streams,
    verbs: parseVerbs,
    commands: readCommands,
    frames: readFrame,
    orders: createOrderReader(parseVerbs),
    appSockets: sockets,
    random: () => 0,
    clock,
    log: silentLogger,
    publicAddress: undefined,
    // One account has it all, unless a test says otherwise.
    sharePercent: 100,
    ...options,
  })
  const engine: ScriptedEngine = {
    otherAccounts: [],
    clock,
    calls,
    store,
    hooks,
    sockets,
    media,
    streams,
    lent,
    authentication: {
      verdict: 'accepted',
      user: { username: 'alice', realm: 'example.com', password: 'secret' },
    },
    account,
    client,
    hasRegistrationHook: false,
    application,
    limits: {},
    defence: undefined,
    queueEventHook: null,
    carriers: [],
    peer: undefined,
    numbers: [],
    patterns: [],
    waysOut: [],
    hostsCalled: [],
    localAddress: () => '127.0.0.1',
    knownAt: undefined,
    registeredOver: new Map(),
    serviceRoutes: new Map(),
    gatewaysDown: new Set(),
    hasTls: true,
    teamsTenants: [],
    teamsFault: undefined,
    gatewaySigns: [],
    identitiesAsked: [],
    identitiesSigned: [],
    identityFound: { verstat: 'TN-Validation-Passed', attest: 'A', origid: 'o' },
    signs: false,
    dialPlan: undefined,
    phones,
    reach: ({ remote }) => Promise.resolve(remote),
    open: () => Promise.resolve(),
    elsewhere: () => ({}),
    resting: [],
    carriersAskedAt: [],
    sent,
    speak: () => 1000,
    fetch: () => 1000,
    ring(given = {}) {
      const invite = new ScriptedInvite({
        to: `app-${application.application_sid}@example.com`,
        callId: `call-${++ringing}@test`,
        ...given,
      })
      calls.invited(invite)
      return invite
    },
  }
  return engine
}

export const phone: Binding = {
  aor: 'alice@example.com',
  key: 'sip:alice@10.0.0.5:5070;',
  instance: undefined,
  q: undefined,
  contact: 'sip:alice@10.0.0.5:5070',
  expiresAt: Number.MAX_SAFE_INTEGER,
  remote: { transport: 'udp', address: '192.0.2.7', port: 40_000 },
  path: [],
  callId: 'r1',
  cseq: 1,
  userAgent: undefined,
}

/** A carrier that takes calls at one gateway, under its name as sid. */
export function outboundCarrier(name: string, changes: Partial<OutboundCarrier> = {}): OutboundCarrier {
  return {
    voip_carrier_sid: name,
    name,
    isShared: false,
    gateways: [{ sip_gateway_sid: `${name} gateway`, host: '192.0.2.10', port: 5060, protocol: 'udp' }],
    tech_prefix: null,
    e164_leading_plus: false,
    diversion: null,
    outbound_sip_proxy: null,
    requires_register: false,
    register_sip_realm: null,
    register_username: null,
    register_password: null,
    register_from_domain: null,
    ...changes,
  }
}

/** A call to Alice's phone that the application runs. */
export const callRequest: CallRequest = {
  account_sid: account.account_sid,
  runs: { application_sid: application.application_sid },
  to: { type: 'user', name: 'alice', realm: 'example.com' },
  from: '+4420',
  headers: [],
  ringMs: 60_000,
  notes: [],
}

/** Lets everything run that waits for nothing but its turn. */
export async function placeOn(
  { calls }: Pick<ScriptedEngine, 'calls'>,
  request: CallRequest,
): Promise<PreparedCall> {
  const call = await calls.prepare(request)
  await call.begin()
  return call
}

export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Resolves when what takes a few such turns has come to rest: a hook, its verbs, a leg that they dial. */
export async function calm(turns = 8): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await settle()
}
