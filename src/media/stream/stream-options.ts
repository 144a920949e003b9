// The options of a stream.
import type { Coders } from '../codecs/coders.ts'
import type { Graph } from '../graph/graph.ts'
import type { MediaEvent } from '../media.ts'
import type { Form, PacketTransport } from '../transport/transport.ts'
import type { SilenceLimits } from '../worker-setup.ts'

export interface StreamOptions {
  readonly id: string
  /** Opens the transport of the session's sockets; called once for each form that it takes. */
  readonly openTransport: (form: Form) => PacketTransport
  readonly graph: Graph
  readonly coders: Coders
  readonly limits: SilenceLimits
  readonly onEvent: (event: MediaEvent) => void
  /** The monotonic time, on the scale of epoch ms. */
  readonly now: () => number
}
