// The engine with all its surroundings scripted, for deterministic tests of races.
import { phonesAt, reachedAt } from './scripted-phones.ts'
import { createFakeClock, type FakeClock } from '../fake-clock.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import type { Authentication, Binding, Remote, Resolved } from '../../../src/sip/sip.ts'
import type { CallHandlers, Calls, CallsOptions } from '../../../src/calls/calls.ts'
import { createOrderReader } from '../../../src/api/calls/read-order.ts'
import { createCalls } from '../../../src/calls/create-calls.ts'
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
import type { CallDefence } from '../../../src/calls/defence-settings.ts'
import type { BorrowedClip } from '../../../src/contracts/speech.ts'
import type { Hook } from '../../../src/contracts/hook.ts'
import type {
  IdentityFinding,
  IdentityQuestion,
  IdentityStatement,
} from '../../../src/contracts/number-trust.ts'
import { createUriResolver } from '../../../src/sip/transport/resolve.ts'
import type { ParseVerbs } from '../../../src/calls/verb/verb.ts'
import { readCommands, readFrame } from '../../../src/commands/index.ts'
import { createScriptedDirectory } from './scripted-directory.ts'
import { ScriptedSockets } from './scripted-sockets.ts'
import { clipOf, ScriptedMedia } from './scripted-media.ts'
import { ScriptedRecognition } from './scripted-recognition.ts'
import { ScriptedStreams } from './scripted-streams.ts'
import { ScriptedInvite, ScriptedOutgoing, type ScriptedInviteOptions } from './scripted-sip.ts'
import { account, client, application } from './scripted-facts.ts'
import { MemoryCallStore } from './memory-call-store.ts'
import { ScriptedHooks } from './scripted-hooks.ts'
import { scriptedRecorder } from './scripted-recorder.ts'

export interface ScriptedEngine {
  readonly clock: FakeClock
  readonly calls: Calls & CallHandlers
  readonly store: MemoryCallStore
  readonly hooks: ScriptedHooks
  readonly sockets: ScriptedSockets
  readonly media: ScriptedMedia
  readonly streams: ScriptedStreams
  readonly recognition: ScriptedRecognition
  /** The clips that are lent out and not yet returned. */
  readonly lent: Set<BorrowedClip>
  authentication: Authentication
  account: AccountFacts | undefined
  accountsKnown?: Promise<void>
  /** The other accounts, which own carriers and numbers too. */
  readonly otherAccounts: AccountFacts[]
  client: ClientFacts | undefined
  /** Whether a registration hook decides about users, in addition to the clients. */
  hasRegistrationHook: boolean
  application: ApplicationFacts | undefined
  limits: CallLimits
  /** Undefined means that of an account with no settings. */
  defence: CallDefence | undefined
  /** The hook that is notified of joins and leaves of a queue. */
  queueEventHook: Hook | null
  /** The carriers at any address. */
  carriers: readonly CarrierMatch[]
  /** The carrier that has a password. */
  peer: CarrierFacts | undefined
  numbers: readonly NumberFacts[]
  patterns: readonly NumberPattern[]
  waysOut: readonly OutboundCarrier[]
  /** The account and host name of calls from carriers. */
  readonly hostsCalled: [account_sid: string, host: string][]
  /** Returns our address as this far end sees it; with undefined, as one that is not yet known does. */
  localAddress: (remote: string | undefined) => string
  /** The realm and address at which a user has authenticated. */
  knownAt: string | undefined
  /** The gateway over which the platform is registered with a carrier, and the Service-Route it received. */
  readonly registeredOver: Map<string, string>
  readonly serviceRoutes: Map<string, readonly string[]>
  readonly gatewaysDown: Set<string>
  /** Whether SIP over TLS is served. */
  hasTls: boolean
  teamsTenants: readonly TeamsTenantFacts[]
  /** The reason why the platform cannot use Microsoft Teams. */
  teamsFault?: string
  /** The findings about gateways that calls reported. */
  readonly gatewaySigns: string[]
  readonly identitiesAsked: IdentityQuestion[]
  readonly identitiesSigned: IdentityStatement[]
  identityFound: IdentityFinding
  /** Whether calls get an Identity header. */
  signs: boolean
  dialPlan: DialPlan | undefined
  /** The registered phones, by address of record. */
  readonly phones: Map<string, readonly Binding[]>
  /** The phones that another node has registered, at any called address. */
  phonesElsewhere: readonly Binding[]
  /** Returns the destination of the INVITE for a phone, by default its source address when it registered. */
  reach: (binding: Binding) => Promise<Remote>
  /** Opens a connection over TLS. */
  open: (remote: Remote) => Promise<void>
  /** Returns the alternative destinations of a URI; `resting` are the addresses that were found not to respond. */
  elsewhere: (uri: string) => Pick<Resolved, 'alternatives'>
  readonly resting: string[]
  /** The addresses for which carriers were looked up. */
  readonly carriersAskedAt: string[]
  /** The INVITEs that were sent. */
  readonly sent: ScriptedOutgoing[]
  /** Returns the length of a text's speech, by default 1 s, or throws an error for the test. */
  speak: (text: string) => number
  fetch: (url: string) => number
  /** Receives an INVITE, by default to the application. */
  ring(options?: Partial<ScriptedInviteOptions>): ScriptedInvite
}

export function createScriptedEngine(
  parseVerbs: ParseVerbs,
  options: Partial<CallsOptions> = {},
): ScriptedEngine {
  const readVerbs = async (list: unknown) => (options.verbs ?? parseVerbs)(list)
  const clock = createFakeClock()
  const store = new MemoryCallStore()
  const hooks = new ScriptedHooks()
  const sockets = new ScriptedSockets()
  const media = new ScriptedMedia(clock)
  const lent = new Set<BorrowedClip>()
  const phones = new Map<string, readonly Binding[]>()
  const streams = new ScriptedStreams()
  const recognition = new ScriptedRecognition()
  const sent: ScriptedOutgoing[] = []
  let ringing = 0
  const lend = async (lengthMs: () => number): Promise<BorrowedClip> => {
    await Promise.resolve()
    const clip: BorrowedClip = { ...clipOf(lengthMs()), release: () => void lent.delete(clip) }
    lent.add(clip)
    return clip
  }
  const resolve = createUriResolver({
    // No name resolves.
    lookup: () => Promise.resolve([]),
    bind: '0.0.0.0',
    serves: (transport) => transport !== 'tls' || engine.hasTls,
  })
  const calls = createCalls({
    mainThreadLoad: () => 0,
    sip: () => ({
      authenticate: () => Promise.resolve(engine.authentication),
      drain: () => undefined,
      byeIn: () => Promise.resolve(200),
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
        boundTo: (place) => phonesAt(phones, place),
        reachedAt: (place) => reachedAt(phones, place),
        findReachedAt: async (place) => [...reachedAt(phones, place), ...engine.phonesElsewhere],
      },
      slow: () => undefined,
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
    recognition,
    verbs: parseVerbs,
    readVerbs,
    commands: readCommands,
    frames: readFrame,
    orders: createOrderReader(readVerbs),
    appSockets: sockets,
    random: () => 0,
    clock,
    log: silentLogger,
    publicAddress: undefined,
    // One account may use it all, unless a test sets a share.
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
    recognition,
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
    phonesElsewhere: [],
    registeredOver: new Map(),
    serviceRoutes: new Map(),
    gatewaysDown: new Set(),
    hasTls: true,
    teamsTenants: [],
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
