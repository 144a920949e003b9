// Where the media of a leg may be sent when its far end is a user's phone or a called SIP URI. A stranger wrote that SDP, and
// could direct packets to any address of the operator's network.
import type { Media } from '../../media/media.ts'

export interface TenantMediaOptions {
  readonly media: Pick<Media, 'open'>
  /** Whether the SDP of a far end may send media to this IP address. */
  readonly isAllowedHop: (address: string) => boolean
}

/** `peers`: the addresses that signalling is exchanged with, which media may always go to. */
export function tenantMedia(
  { media, isAllowedHop }: TenantMediaOptions,
  peers: ReadonlySet<string>,
): Pick<Media, 'open'> {
  const maySendTo = (address: string): boolean => peers.has(address) || isAllowedHop(address)
  return { open: (options) => media.open({ ...options, maySendTo }) }
}
