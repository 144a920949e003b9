// The recogniser of an order: over a socket that stays open, or utterance by utterance.
import { AppError } from '../../lib/errors.ts'
import { soundVendor, type RecognitionOrder } from '../../contracts/recognition.ts'
import type { Post, VendorOfEars } from './dialect.ts'
import { vendorOfEars } from './index.ts'
import { SoundRecogniser } from './sound-recogniser.ts'
import { UtteranceRecogniser } from './utterance-recogniser.ts'
import { VendorSocket, type VendorSocketOptions } from './vendor-socket.ts'

type Options = Omit<VendorSocketOptions, 'vendor'>

/** Returns the recogniser of the vendor that the order names. */
export function recogniserOf(order: RecognitionOrder, options: Options) {
  if (order.vendor === soundVendor) return new SoundRecogniser(order, options)
  const vendor = vendorOfEars(order.vendor)
  if (vendor === undefined) throw new Error(`no recogniser ${order.vendor}`)
  return createRecogniser(order, { ...options, vendor })
}

export function createRecogniser(
  order: RecognitionOrder,
  options: VendorSocketOptions,
): VendorSocket | UtteranceRecogniser {
  const { vendor } = options
  const { name } = vendor
  return isPosted(vendor, order)
    ? new UtteranceRecogniser(order, { ...options, name, postOf: (one) => vendor.postOf?.(one) })
    : new VendorSocket(order, options)
}

/** Reports whether the order is served by posts, also if it lacks something for them. */
function isPosted(vendor: VendorOfEars, order: RecognitionOrder): boolean {
  let post: Post | undefined
  try {
    post = vendor.postOf?.(order)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return true
  }
  return post !== undefined
}
