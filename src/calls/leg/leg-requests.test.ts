import { describe, expect, it } from 'vitest'
import { ScriptedDialog } from '../../../test/support/scripted-engine/scripted-dialog.ts'
import { LegRequests } from './leg-requests.ts'

const info = { method: 'INFO', headers: [] } as const

describe('requests of an application', () => {
  it('are not sent while the leg has no dialog', async () => {
    const requests = new LegRequests(() => undefined)
    await expect(requests.send(info)).rejects.toMatchObject({ code: 'call_state' })
  })

  it('resolve with the final response', async () => {
    const dialog = new ScriptedDialog('c')
    expect(await new LegRequests(() => dialog).send(info)).toEqual({ status: 200, reason: 'OK' })
  })

  it('are eight at most that wait for a far end that does not respond', async () => {
    const dialog = new ScriptedDialog('c')
    const settles: (() => void)[] = []
    dialog.responds = () =>
      new Promise((_, reject) => settles.push(() => reject(new Error('the transport is gone'))))
    const requests = new LegRequests(() => dialog)
    const waiting = Array.from({ length: 8 }, () => requests.send(info))
    await expect(requests.send(info)).rejects.toMatchObject({ code: 'overloaded' })
    expect(dialog.requests).toHaveLength(8)
    for (const settle of settles) settle()
    await Promise.allSettled(waiting)
    dialog.responds = () => new Promise(() => undefined)
    void requests.send(info)
    expect(dialog.requests).toHaveLength(9)
  })
})
