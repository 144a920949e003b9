// The media of an account's legs: what they take of the workers is counted as the account's, and where they may be sent is limited
// when the far end is a user's phone or a called SIP URI. A stranger wrote that SDP, and could direct packets to any address of
// the operator's network.
import { telephoneCodecs } from '../../media/codecs/codecs.ts'
import type { Media } from '../../media/media.ts'

export interface TenantMediaOptions {
  readonly media: Pick<Media, 'open'>
  /** Whether the SDP of a far end may send media to this IP address. */
  readonly isAllowedHop: (address: string) => boolean
}

export interface Tenant {
  readonly owner: string
  /**
   * The addresses that signalling is exchanged with, which media may always go to. Undefined for gateways of carriers: they are where
   * they are, many of them inside.
   */
  readonly peers: ReadonlySet<string> | undefined
}

export function tenantMedia(
  { media, isAllowedHop }: TenantMediaOptions,
  { owner, peers }: Tenant,
): Pick<Media, 'open'> {
  if (peers === undefined)
    return { open: (options) => media.open({ ...options, owner, offers: telephoneCodecs }) }
  const maySendTo = (address: string): boolean => peers.has(address) || isAllowedHop(address)
  return { open: (options) => media.open({ ...options, owner, maySendTo }) }
}
