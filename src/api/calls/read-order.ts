// The order of a call from an application over WebSocket: the same request as that of a client, read by the same rules.
import type { ReadOrder } from '../../calls/command.ts'
import { verbsFault } from '../define/app-json.ts'
import { createShapeCompiler, type Shape } from '../define/shape.ts'
import { callFields, toRequest, type Body } from './create-call.ts'

export function createOrderReader(readVerbs: (verbs: unknown) => Promise<unknown>): ReadOrder {
  let shape: Shape | undefined
  return async (account, data) => {
    // Compiled at the first use: most platforms never get an order.
    shape ??= createShapeCompiler()(callFields, 'create')
    return await toRequest(shape(data) as Body, account, {
      verbsFault: (verbs) => verbsFault(readVerbs, verbs),
    })
  }
}
