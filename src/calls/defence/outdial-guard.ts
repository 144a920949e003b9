// The one gate for calls that leave the platform: every INVITE to a carrier or a SIP URI passes it, for users,
// applications and API clients alike. It also ends calls for a kill switch, and raises the alerts.
import type { Alerts } from '../../contracts/alert.ts'
import type { OutdialUsageStore } from '../../contracts/outdial-usage.ts'
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { toDecision } from '../journal/decision.ts'
import { hangUpFor } from '../leg/hang-up-for.ts'
import type { Leg } from '../leg/leg.ts'
import type { AccountFacts, Directory } from '../ports.ts'
import type { Target } from '../verb/target.ts'
import {
  checkOutdial,
  closedRefusal,
  isEmergency,
  isExempt,
  type Outdial,
  type OutdialRefusal,
} from './check-outdial.ts'
import { DefenceAlerts } from './defence-alerts.ts'
import type { DefenceLimit } from '../defence-settings.ts'
import { closedDestination } from './judge-destination.ts'
import { OutdialCounts } from './outdial-counts.ts'

export interface OutdialGuardOptions {
  readonly directory: Pick<Directory, 'callDefence'>
  /** Without it, no usage outlives the process, and there is no other node. */
  readonly usage: OutdialUsageStore | undefined
  readonly alerts: Alerts | undefined
  readonly clock: Clock
  readonly log: Logger
}

/** The leg of a number, and the setting that produced the number. */
interface Asking {
  /** A dry run has a journal only. */
  readonly leg: Pick<Leg, 'journal'>
  readonly by: string
  /** True if no call is made: no alert is raised. */
  readonly isDry?: boolean | undefined
}

type Payer = Pick<AccountFacts, 'account_sid' | 'service_provider_sid'>

// A kill switch set on another node is seen within a second; the calls are ended at most this much later.
const lookEveryMs = 500
// A node that dies loses what it has not written: this much of each call that is up.
const writeEveryMs = 5_000

export class OutdialGuard {
  readonly #options: OutdialGuardOptions
  readonly #counts: OutdialCounts
  readonly #alerts: DefenceAlerts
  readonly #live = new Map<Leg, Payer>()
  #look: Timer | undefined
  #write: Timer | undefined
  #writing: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: OutdialGuardOptions) {
    this.#options = options
    this.#counts = new OutdialCounts(options.clock)
    this.#alerts = new DefenceAlerts(options)
  }

  async start(): Promise<void> {
    await this.#exchange()
    if (this.#options.usage?.isShared === true) this.#writeLater()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#look?.cancel()
    this.#write?.cancel()
    await this.#exchange()
  }

  /** Returns how much of each limit is used. */
  usage(account_sid: string): Readonly<Record<DefenceLimit, number>> {
    return this.#counts.usage(account_sid)
  }

  /** Returns why a call to this target may not begin now, or undefined. Changes nothing. */
  async refusal(payer: Payer, to: Target): Promise<OutdialRefusal | undefined> {
    if (to.type === 'user') return undefined
    const defence = await this.#options.directory.callDefence(payer)
    return checkOutdial({ number: numberOf(to), defence, ...this.#used(payer) })
  }

  /** Throws AppError and raises the alert if a call to this target may not begin now. */
  async demand(payer: Payer, to: Target): Promise<void> {
    const refusal = await this.refusal(payer, to)
    if (refusal !== undefined) throw this.#refuse(refusal, payer, { number: numberOf(to) })
  }

  /** Counts the call of the leg, or throws AppError. To be called once for each leg, however many gateways it tries. */
  async admit(leg: Leg, payer: Payer, to: Target): Promise<void> {
    if (to.type === 'user') return
    await this.#pass(leg, payer, numberOf(to), () => this.#count(leg, payer))
  }

  /**
   * Does the same as `admit` for a call that the far end of the leg is asked to make (REFER). The platform does not see
   * that call end, so it counts as begun but not as up. `number` is undefined if the call goes to no carrier.
   */
  async admitReferred(leg: Leg, payer: Payer, number: string | undefined): Promise<void> {
    await this.#pass(leg, payer, number, () => {
      this.#counts.begin(payer.account_sid, { answeredAt: () => undefined })()
      this.#writeLater()
    })
  }

  async #pass(leg: Leg, payer: Payer, number: string | undefined, count: () => void): Promise<void> {
    const defence = await this.#options.directory.callDefence(payer)
    if (leg.hasEnded) return
    // There is no await between the check and the count, so that simultaneous calls cannot exceed a limit.
    const used = this.#used(payer)
    if (isEmergency({ number, ...used })) return this.#counts.beginShort(payer.account_sid)
    const refusal = checkOutdial({ number, defence, ...used })
    if (refusal !== undefined) throw this.#refuse(refusal, payer, { leg, number })
    count()
    this.#alerts.used(payer.account_sid, defence, this.usage(payer.account_sid))
  }

  async isClosed(dialled: string, payer: Payer): Promise<boolean> {
    if (isExempt(dialled)) return false
    return closedDestination(dialled, await this.#options.directory.callDefence(payer)) !== undefined
  }

  /** Throws AppError if a number is closed, given as it is sent to a carrier in the INVITE. */
  async demandOpen(dialled: string, payer: Payer, { leg, by, isDry }: Asking): Promise<void> {
    const closed = closedDestination(dialled, await this.#options.directory.callDefence(payer))
    if (closed !== undefined && !isExempt(dialled))
      throw this.#refuse(closedRefusal(closed, by), payer, { leg, isDry, number: dialled })
  }

  /** Does the same as `admit`, but counts nothing and writes to the journal only. */
  async wouldAdmit(leg: Pick<Leg, 'journal'>, payer: Payer, to: Target): Promise<void> {
    const refusal = await this.refusal(payer, to)
    if (refusal !== undefined) throw this.#refuse(refusal, payer, { leg, isDry: true })
  }

  #used({ account_sid }: Payer): Pick<Outdial, 'usage' | 'shortCalls'> {
    return { usage: this.usage(account_sid), shortCalls: this.#counts.shortCalls(account_sid) }
  }

  #refuse(
    refusal: OutdialRefusal,
    { account_sid }: Payer,
    { leg, isDry = false, number }: Partial<Omit<Asking, 'by'>> & { readonly number?: string | undefined },
  ): AppError {
    const { code, sentence, cure, rule, outcome } = refusal
    leg?.journal.note(toDecision({ rule, outcome, code }))
    const error = new AppError(code, sentence, cure === undefined ? {} : { cure })
    if (isDry) return error
    const call_sid = leg?.journal.facts.started.call_sid
    this.#options.log.warn(
      { account_sid, code, sentence, cure: error.cure, to: number, ...(call_sid && { call_sid }) },
      'outbound call refused',
    )
    this.#alerts.refused(account_sid, refusal, error, call_sid)
    return error
  }

  #count(leg: Leg, payer: Payer): void {
    const end = this.#counts.begin(payer.account_sid, { answeredAt: () => leg.journal.facts.answered_at })
    this.#live.set(leg, payer)
    leg.signal.addEventListener(
      'abort',
      () => {
        end()
        this.#live.delete(leg)
        if (this.#live.size > 0) return
        this.#look?.cancel()
        this.#look = undefined
      },
      { once: true },
    )
    this.#lookLater()
    this.#writeLater()
  }

  #lookLater(): void {
    if (this.#live.size === 0 || this.#isStopped) return
    this.#look ??= this.#options.clock.after(lookEveryMs, () => {
      this.#look = undefined
      void this.#inspect().finally(() => this.#lookLater())
    })
  }

  /** Ends the calls that a kill switch ends, and raises alerts for the growing minutes of calls that are up. */
  async #inspect(): Promise<void> {
    const payers = new Map([...this.#live.values()].map((payer) => [payer.account_sid, payer]))
    for (const payer of payers.values()) {
      const { account_sid } = payer
      const defence = await this.#options.directory.callDefence(payer).catch(() => undefined)
      if (defence === undefined) continue
      this.#alerts.used(account_sid, defence, this.usage(account_sid))
      if (defence.killSwitch === 'all_calls') this.#endAll(account_sid)
    }
  }

  #endAll(account_sid: string): void {
    const reason = 'outbound calls of the account are stopped'
    for (const [leg, payer] of this.#live) {
      if (payer.account_sid !== account_sid) continue
      leg.journal.note(toDecision({ rule: 'defence-stopped', outcome: 'hang up', code: 'outbound_stopped' }))
      void hangUpFor(leg, new AppError('outbound_stopped', reason))
    }
  }

  #writeLater(): void {
    const { usage, clock } = this.#options
    if (usage === undefined || this.#isStopped) return
    this.#write ??= clock.after(writeEveryMs, () => {
      this.#write = undefined
      void this.#exchange().finally(() => {
        if (usage.isShared || this.#counts.busy.length > 0) this.#writeLater()
      })
    })
  }

  /** Runs one exchange at a time. If storage does not respond, calls continue, counted by this node alone. */
  #exchange(): Promise<void> {
    const { usage, clock, log } = this.#options
    if (usage === undefined) return Promise.resolve()
    this.#writing = this.#writing.then(async () => {
      const own = this.#counts.changes()
      const day = Math.floor(clock.now() / 86_400_000)
      try {
        this.#counts.learn(await usage.exchange(own, day))
      } catch (error) {
        this.#counts.unwritten(own)
        log.warn({ err: error }, 'the usage of outbound calls could not be stored')
      }
    })
    return this.#writing
  }
}

function numberOf(to: Target): string | undefined {
  return to.type === 'phone' ? to.number : undefined
}
