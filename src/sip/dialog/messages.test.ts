// MESSAGE within a dialog (RFC 3428 §4): accepted if the owner accepts it, otherwise refused with 405.
import { expect, it } from 'vitest'
import { callIn, listenerOf, openStage } from '../../../test/support/sip-stage.ts'
import { headerOf } from '../message/message.ts'

async function message(status: number, serves = true) {
  const stage = await openStage({ serves: { messages: serves } })
  const dialog = await callIn(stage)
  const told: string[] = []
  dialog.listen(listenerOf(told, { requested: { status } }))
  stage.peer.send('MESSAGE', { lines: ['Content-Type: text/plain'], content: 'hello' })
  await stage.soon()
  return { stage, told }
}

it('a MESSAGE within a dialog is answered as the owner says', async () => {
  const { stage, told } = await message(202)
  expect(told).toContain('MESSAGE')
  expect(stage.peer.starts.at(-1)).toBe('202')
})

it('one that the owner refuses with 405 gets what is allowed, and a MESSAGE is not', async () => {
  const { stage } = await message(405)
  expect(stage.peer.starts.at(-1)).toBe('405')
  const allow = headerOf(stage.peer.last('405'), 'allow')
  expect(allow).toContain('INFO')
  expect(allow).not.toContain('MESSAGE')
})

it('one to a stack that serves none reaches no owner', async () => {
  const { stage, told } = await message(202, false)
  expect(told).not.toContain('MESSAGE')
  expect(stage.peer.starts.at(-1)).toBe('405')
})

it('one outside a dialog is refused with 405', async () => {
  const stage = await openStage({ serves: { messages: true } })
  stage.peer.send('MESSAGE', { lines: ['Content-Type: text/plain'], content: 'hello' })
  await stage.soon()
  expect(stage.peer.starts).toEqual(['405'])
})
