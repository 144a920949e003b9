// Stand-ins for the state of the call engine, the registrar and the carrier monitoring: lists that an API test fills.
import type { RegisteredPhone } from '../../src/contracts/registered-phone.ts'
import type { CallRequest, DryQuestion, DryRun, LiveCall, LiveConference } from '../../src/calls/calls.ts'
import type { AskedCommands } from '../../src/calls/script/command.ts'
import type { JournalEvent } from '../../src/calls/journal/journal.ts'
import { createSid } from '../../src/lib/ids.ts'
import type { Mail } from '../../src/outgoing/mail.ts'
import type { Ping, TrunkGateway, WatchedGateway } from '../../src/trunks/trunks.ts'

/** The state of the carrier monitoring. */
export interface CarrierState {
  readonly watched: Map<string, WatchedGateway>
  readonly resting: Set<string>
  /** The ping results by host; a gateway without an entry has answered. */
  readonly pings: Map<string, Ping>
  /** The time until a carrier may be tested again, in ms. */
  waitMs: number
  /** Called when a call has begun. */
  begun: (request: CallRequest, call_sid: string) => void
}

const answeredPing: Ping = { at: 1, isAnswered: true, reason: '200 OK', status: 200, delayMs: 5 }

export interface LiveLists {
  readonly calls: LiveCall[]
  /** The dry runs that were requested. */
  readonly dryRuns: { account_sid: string; question: DryQuestion }[]
  readonly queues: { account_sid: string; name: string; length: number }[]
  readonly journals: Map<string, readonly JournalEvent[]>
  /** The live conferences by account. */
  readonly conferences: Map<string, LiveConference[]>
  readonly phones: RegisteredPhone[]
  readonly hungUp: string[]
  /** The calls that were requested. */
  readonly placed: CallRequest[]
  /** The commands for live calls. */
  readonly commands: AskedCommands[]
  /** The mails that the platform sent. */
  readonly mails: Mail[]
  /** The speech cache: the account of each clip. */
  readonly clips: string[]
  readonly carriers: CarrierState
}

/** Creates the state that the call engine and the registrar would have. */
export function createLiveState() {
  const calls: LiveCall[] = []
  const queues: LiveLists['queues'] = []
  const phones: RegisteredPhone[] = []
  const hungUp: string[] = []
  const placed: CallRequest[] = []
  const commands: AskedCommands[] = []
  const dryRuns: LiveLists['dryRuns'] = []
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
  const lists: LiveLists = {
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
    journals,
    conferences,
  }
  return {
    lists,
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
