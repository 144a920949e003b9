// The share of the transactions that each source may hold: a request over 4 kB counts as several.
import { networkOf } from '../../network/network-of.ts'
import { Shares } from '../../lib/bounds/shares.ts'
import { transactionLimits } from '../limits.ts'
import type { Remote } from '../transport/transports.ts'
import type { Sources } from '../transport/sources.ts'

export interface AdmissionOptions {
  readonly maxTransactions: number
  /** Reports which sources have proved themselves; left out, only the total limit applies to a source. */
  readonly sources: Pick<Sources, 'isProven'> | undefined
}

/** The room that a request holds, given back when its transaction is over. */
export interface Taken {
  giveBack(): void
}

export class Admission {
  readonly #options: AdmissionOptions
  readonly #shares: Shares

  constructor(options: AdmissionOptions) {
    this.#options = options
    this.#shares = new Shares(options.maxTransactions)
  }

  /** Reports whether there is room for a request of this method and size. */
  admits(method: string, raw: Uint8Array, remote: Remote): boolean {
    // Requests that end a call are admitted a little longer: they free more than they take.
    if (method === 'BYE' || method === 'CANCEL')
      return this.#shares.used < this.#options.maxTransactions * transactionLimits.endingShare
    return this.#shares.mayTake(networkOf(remote.address), this.#shareOf(remote), unitsOf(raw))
  }

  take(raw: Uint8Array, remote: Remote): Taken {
    const [source, units] = [networkOf(remote.address), unitsOf(raw)]
    this.#shares.take(source, units)
    return { giveBack: () => this.#shares.give(source, units) }
  }

  #shareOf(remote: Remote): number {
    const { sources } = this.#options
    if (sources === undefined) return Number.POSITIVE_INFINITY
    return sources.isProven(remote) ? transactionLimits.provenShare : transactionLimits.strangerShare
  }
}

function unitsOf(raw: Uint8Array): number {
  return Math.max(1, Math.ceil(raw.byteLength / transactionLimits.unitBytes))
}
