// The check of the address that phones and carriers see, and whether there is NAT between.
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { bad, note, ok, type Check, type Finding } from './doctor.ts'
import { createAddressGuard } from '../network/address-guard.ts'
import { createLocalAddress } from '../network/local-address.ts'
import type { Clock } from '../lib/clock.ts'

export interface PublicAddressOptions {
  readonly bind: string
  readonly publicAddress: string | undefined
  readonly isProduction: boolean
  readonly clock: Pick<Clock, 'monotonic'>
  /** The addresses of this machine. */
  readonly addresses?: readonly string[]
}

const isPublic = createAddressGuard([])
const setting = 'SWITCHHOOK_PUBLIC_ADDRESS'

export function createPublicAddressCheck(options: PublicAddressOptions): Check {
  return {
    name: 'public address',
    look: async () => [
      options.publicAddress === undefined ? unset(options) : set(options, options.publicAddress),
    ],
  }
}

function unset({ bind, isProduction, clock }: PublicAddressOptions): Finding {
  const { general } = createLocalAddress({ bind, publicAddress: undefined, clock })
  if (isPublic(general)) return ok(`Phones and carriers see ${general}, which is this machine's own`)
  const what = `Phones and carriers see ${general}, which is not reachable from the internet`
  const cure = `Behind NAT or in a container, set ${setting} to the address that they reach; otherwise nothing needs to be done.`
  return isProduction ? bad(what, cure) : note(what, cure)
}

function set({ bind, addresses = ownAddresses() }: PublicAddressOptions, address: string): Finding {
  if (bind !== '::' && isIP(bind) !== isIP(address))
    return bad(
      `Phones and carriers see ${address}, and packets of that IP version cannot reach ${bind}`,
      `Set ${setting} and SWITCHHOOK_BIND to addresses of the same IP version.`,
    )
  if (addresses.includes(address))
    return ok(`Phones and carriers see ${address}, which is this machine's own`)
  return note(
    `Phones and carriers see ${address}, which is not an address of this machine: there is NAT between. Not checked: what it lets through`,
    'Let it forward the ports of SIP and RTP to this machine, with the same numbers.',
  )
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? [])
}
