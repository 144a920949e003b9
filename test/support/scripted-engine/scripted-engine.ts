// The engine with everything around it scripted: what a deterministic test of a race needs.
import { createFakeClock } from '../fake-clock.ts'
import type { FakeClock } from '../fake-clock.ts'
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
import type { CallDefence } from '../../../src/calls/defence/defence-settings.ts'
import type { BorrowedClip } from '../../../src/contracts/speech.ts'
import type { Hook } from '../../../src/contracts/hook.ts'
import type {
  IdentityFinding,
  IdentityQuestion,
  IdentityStatement,
} from '../../../src/contracts/number-trust.ts'
import { createUriResolver } from '../../../src/sip/resolve.ts'
import type { ParseVerbs } from '../../../src/calls/verb.ts'
import { readCommands, readFrame } from '../../../src/commands/index.ts'
import { createScriptedDirectory } from './scripted-directory.ts'
import { ScriptedSockets } from './scripted-sockets.ts'
import { clipOf, ScriptedMedia } from './scripted-media.ts'
import { ScriptedStreams } from './scripted-streams.ts'
import { ScriptedInvite, ScriptedOutgoing } from './scripted-sip.ts'
import type { ScriptedInviteOptions } from './scripted-sip.ts'
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
  teamsFault?: string
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
  /** At any place that is called, as another node has registered them. */
  phonesElsewhere: readonly Binding[]
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
  const phonesAt = ({ address, port }: Remote): readonly Binding[] =>
    [...phones.values()].flat().filter(({ remote }) => remote.address === address && remote.port === port)
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
    mainThreadLoad: () => 0,
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
        boundTo: (place) => phonesAt(place),
        findBoundTo: async (place) => [...phonesAt(place), ...engine.phonesElsewhere],
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
