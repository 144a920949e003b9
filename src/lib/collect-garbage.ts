// A full garbage collection by V8 that also gives memory back to the system. It stops this thread for some tens of ms.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void

export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as Collect
  collect({ type: 'major', flavor: 'last-resort' })
}
