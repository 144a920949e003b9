// The registered phones of a scripted engine, by the place that they signal from.
import type { Binding, Remote } from '../../../src/sip/sip.ts'

type Phones = ReadonlyMap<string, readonly Binding[]>

export function phonesAt(phones: Phones, { address, port }: Remote): readonly Binding[] {
  return [...phones.values()]
    .flat()
    .filter(({ remote }) => remote.address === address && remote.port === port)
}

/** Leaves out phones behind a proxy, whose place is that of the proxy. */
export function reachedAt(phones: Phones, place: Remote): readonly Binding[] {
  return phonesAt(phones, place).filter(({ path }) => path.length === 0)
}
