// Where the media of a leg may be sent when its far end is a user's phone or a SIP URI that was called: what SDP says there are
// the words of strangers, and packets to any address of our network are what they could ask for.
import type { Media } from '../../media/media.ts'
import type { CallServices } from '../call-services.ts'

/** `peers`: the addresses that signalling is exchanged with, which media may always go to. */
export function tenantMedia(
  { media, isAllowedHop }: Pick<CallServices, 'media' | 'isAllowedHop'>,
  peers: ReadonlySet<string>,
): Pick<Media, 'open'> {
  const maySendTo = (address: string): boolean => peers.has(address) || isAllowedHop(address)
  return { open: (options) => media.open({ ...options, maySendTo }) }
}
