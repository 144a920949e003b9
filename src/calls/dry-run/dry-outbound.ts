// The dry run of a call that the platform makes.
import { AppError } from '../../lib/errors.ts'
import { createSid, randomHex } from '../../lib/ids.ts'
import { AttemptGate } from '../outbound/attempt-gate.ts'
import type { Attempt, Round } from '../outbound/attempt.ts'
import { demandFromHost } from '../outbound/caller-identity.ts'
import { calledPartyOf, type CallOrder } from '../outbound/call-order.ts'
import { findWay } from '../outbound/find-way.ts'
import { noteFailover } from '../outbound/try-rounds.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { AccountFacts } from '../ports.ts'
import type { DryQuestion, DryRun } from './dry-question.ts'
import { outcomeOf, scratchJournal, toStarted } from './scratch-journal.ts'
import { isNotLookedUp, type DryNeeds } from './without-effects.ts'

export async function runOutbound(
  account: AccountFacts,
  question: Extract<DryQuestion, { direction: 'outbound' }>,
  needs: DryNeeds,
): Promise<DryRun> {
  const { from, fromHost, to } = question
  const journal = scratchJournal(toStarted(account, { from, to: calledPartyOf(to) }, 'outbound'), needs.clock)
  const order: CallOrder = {
    account,
    from,
    to,
    call_sid: createSid(),
    call_id: randomHex(16),
    application_sid: undefined,
    headers: [],
    ringMs: 0,
    notes: [],
  }
  const leg = { journal }
  const untold: string[] = []
  const onUntold = (address: string): void => void untold.push(address)
  const gate = new AttemptGate({ leg, order, needs, isDry: true, onUntold })
  const full = needs.admission.refusal()
  const names: string[] = []
  const places: string[] = []
  const outcome = await outcomeOf(journal, needs.log, async () => {
    if (!account.is_active) throw new AppError('account_inactive', 'Account exists but is inactive')
    await demandFromHost(fromHost, account, needs.directory)
    if (full !== undefined) throw full
    const admit = (): Promise<void> => needs.guard.wouldAdmit(leg, account, to)
    const found = await findWay({ leg, order, needs, admit, gate })
    if (found.kind === 'refused') return { refusal: found.refusal.fact }
    return { outcome: 'attempts', attempts: await placesOf(found.rounds, { leg, needs, names, places }) }
  })
  const assumptions = [
    ...names.map((name) => `${name} has an address that may be called: names are not looked up`),
    ...places.map((place) => `${place} has no phone of another account: those are not shown`),
    ...untold.map(
      (address) =>
        `${address} is searched for carriers of the account only: those of other accounts are not shown`,
    ),
  ]
  return { ...outcome, assumptions }
}

interface Means {
  readonly leg: { readonly journal: JournalWriter }
  readonly needs: DryNeeds
  /** SIP URIs with a name. */
  readonly names: string[]
  /** SIP URIs with an address. */
  readonly places: string[]
}

/** Skips places that no request can be sent to, like `tryRounds`. Throws AppError if that is true of all. */
async function placesOf(
  rounds: readonly Round[],
  { leg, needs, ...unproven }: Means,
): Promise<DryRun['attempts']> {
  const { host } = needs.sip().addressFor()
  const tried: DryRun['attempts'][number][] = []
  const failed: { readonly round: Round; readonly error: AppError }[] = []
  for (const [index, round] of rounds.entries()) {
    const errors = await Promise.all(round.map((attempt) => failureOf(attempt, unproven)))
    const [error] = errors.filter((one) => one !== undefined)
    if (error !== undefined && errors.every((one) => one !== undefined)) failed.push({ round, error })
    for (const [at, { trunk, place, invite }] of round.entries())
      if (errors[at] === undefined)
        tried.push({ round: index + 1, trunk, place, request_uri: invite(host).uri })
  }
  const last = tried.length === 0 ? failed.pop() : undefined
  for (const { round, error } of failed) noteFailover(leg, round, error.message)
  if (last !== undefined) throw last.error
  return tried
}

/** Returns undefined if a request could be sent there, as far as can be known without DNS. */
async function failureOf(
  { trunk, place, destination }: Attempt,
  { names, places }: Pick<Means, 'names' | 'places'>,
): Promise<AppError | undefined> {
  try {
    await destination()
    if (trunk === 'sipUri') places.push(place)
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (!isNotLookedUp(error)) return error
    if (trunk === 'sipUri') names.push(place)
    return undefined
  }
}
