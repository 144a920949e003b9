// The second check of the called number, as it is in each INVITE. A prefix of the carrier, a redirect or a SIP URI to a
// gateway changes the number, and the result may be closed.
import { AppError } from '../../lib/errors.ts'
import type { Remote } from '../../sip/sip.ts'
import type { Leg } from '../leg/leg.ts'
import type { Attempt, Round } from './attempt.ts'
import type { CallOrder } from './call-order.ts'
import { carriersAt } from './carriers-at.ts'
import type { OutboundNeeds } from './needs.ts'

export interface AttemptGateOptions {
  /** The calling leg. A dry run has only a journal. */
  readonly leg: Pick<Leg, 'journal'>
  readonly order: Pick<CallOrder, 'account'>
  readonly needs: Pick<OutboundNeeds, 'directory' | 'sip' | 'reservesCarriers' | 'guard'>
  readonly isDry?: boolean
  /** Called with an address at which a dry run does not reveal the carrier. */
  readonly onUntold?: (address: string) => void
}

export class AttemptGate {
  readonly #options: AttemptGateOptions

  constructor(options: AttemptGateOptions) {
    this.#options = options
  }

  /** Removes attempts that would send a closed number to a carrier. Throws the refusal if none is left. */
  async open(rounds: readonly Round[]): Promise<readonly Round[]> {
    const refusals = new Map<string, AppError | undefined>()
    for (const { dialled, gateway, trunk } of rounds.flat()) {
      if (dialled === undefined || gateway === undefined || refusals.has(dialled)) continue
      refusals.set(dialled, await this.#refusalOf(dialled, ` over ${trunk}`))
    }
    const isOpen = ({ dialled = '', gateway }: Attempt): boolean =>
      gateway === undefined || refusals.get(dialled) === undefined
    const open = rounds.map((round) => round.filter(isOpen)).filter((round) => round.length > 0)
    const refusal = [...refusals.values()].find((error) => error !== undefined)
    if (open.length === 0 && refusal !== undefined) throw refusal
    return open.map((round) => round.map((attempt) => this.#guarded(attempt)))
  }

  #guarded(attempt: Attempt): Attempt {
    const { dialled, gateway, redirect } = attempt
    return {
      ...attempt,
      ...(redirect === undefined
        ? {}
        : { redirect: async (target) => (await this.open([await redirect(target)])).flat() }),
      destination: async () => {
        const remote = await attempt.destination()
        if (gateway === undefined && attempt.isPhone !== true && attempt.tenant === undefined)
          await this.demandMayCall([remote, ...(remote.alternatives ?? [])], dialled)
        return remote
      },
    }
  }

  /**
   * Throws AppError if a SIP URI leads to a carrier that may not be called so. Its user is a telephone number only at a
   * carrier's address; elsewhere it may be anything.
   */
  async demandMayCall(places: readonly Remote[], dialled: string | undefined): Promise<void> {
    const { order, needs, isDry = false, onUntold } = this.#options
    const isClosed = dialled !== undefined && (await needs.guard.isClosed(dialled, order.account))
    if (!isClosed && !needs.reservesCarriers) return
    // All addresses are checked, because each is tried when the one before it fails: the second may be a carrier's.
    const found = await carriersAt(new Set(places.map(({ address }) => address)), needs)
    const { account_sid } = order.account
    // A dry run is free and leaves no trace. Without this, it would list the carriers of others: by their refusal where
    // the operator reserves them, and elsewhere by that of a closed number, which only a carrier's address gets.
    const carriers = isDry ? found.filter((one) => one.account_sid === account_sid) : found
    const [at] = carriers
    if (at === undefined) {
      if (isDry) for (const { address } of places.slice(0, 1)) onUntold?.(address)
      return
    }
    if (needs.reservesCarriers && !carriers.some((one) => one.account_sid === account_sid))
      throw new AppError(
        'carrier_by_number_only',
        'the SIP URI leads to a carrier that is not of this account',
      )
    const refusal = isClosed ? await this.#refusalOf(dialled, ` at ${at.address}`) : undefined
    if (refusal !== undefined) throw refusal
  }

  async #refusalOf(dialled: string, by: string): Promise<AppError | undefined> {
    const { leg, order, needs, isDry } = this.#options
    try {
      await needs.guard.demandOpen(dialled, order.account, { leg, by, isDry })
      return undefined
    } catch (error) {
      if (error instanceof AppError) return error
      throw error
    }
  }
}
