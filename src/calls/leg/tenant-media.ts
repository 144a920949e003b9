// The media of an account's legs. Their use of the workers is counted for the account. The destination of media is
// limited if the far end is a user's phone or a called SIP URI: a stranger wrote that SDP, and could direct packets to
// any address in the operator's network.
import { telephoneCodecs } from '../../media/codecs/codecs.ts'
import type { Media } from '../../media/media.ts'

export interface TenantMediaOptions {
  readonly media: Pick<Media, 'open'>
  /** Whether the SDP of a far end may send media to this IP address. */
  readonly isAllowedHop: (address: string) => boolean
  /** Whether it is a SIP proxy or media relay of the operator. */
  readonly isSipProxy: (address: string) => boolean
}

export interface Tenant {
  readonly owner: string
  /**
   * The addresses that signalling is exchanged with, to which media may always be sent. Undefined for gateways of
   * carriers: their addresses are not limited, since many are inside the operator's network.
   */
  readonly peers: ReadonlySet<string> | undefined
  /** Whether the far end need not send anything, as a recording server. */
  readonly onlyListens?: boolean
}

export function tenantMedia(
  { media, isAllowedHop, isSipProxy }: TenantMediaOptions,
  { owner, peers, onlyListens = false }: Tenant,
): Pick<Media, 'open'> {
  if (peers === undefined)
    return { open: (options) => media.open({ ...options, owner, offers: telephoneCodecs }) }
  const maySendTo = (address: string): boolean => peers.has(address) || isAllowedHop(address)
  // The address that signalling is exchanged with has proven itself; any other may be that of a third party.
  const mustBeHeard = (address: string): boolean =>
    !onlyListens && !peers.has(address) && !isSipProxy(address)
  return { open: (options) => media.open({ ...options, owner, maySendTo, mustBeHeard }) }
}
