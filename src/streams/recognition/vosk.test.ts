import { afterEach, describe, expect, it } from 'vitest'
import { lineOf, VendorStage, wordsOf } from '../../../test/support/vendor-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { vosk } from './vosk.ts'

const stage = new VendorStage()
afterEach(() => stage.clear())

async function open() {
  const vendor = await stage.serve()
  const call = stage.call(vosk, { vendorOptions: { uri: vendor.url }, hints: [{ phrase: 'yes' }] })
  await call.opened()
  return { call, line: await lineOf(vendor) }
}

describe('A Vosk server', () => {
  it('gets its settings, and each partial is reported once although each message is answered', async () => {
    const { call, line } = await open()
    await until('the settings', () => line.texts.length > 0)
    expect(line.texts[0]).toEqual({
      config: { sample_rate: 8000, words: true, phrase_list: ['yes', '[unk]'] },
    })
    for (const partial of ['', 'one', 'one', 'one', 'one two', 'one two']) line.say({ partial })
    line.say({
      text: 'one two',
      result: [
        { word: 'one', start: 0.1, end: 0.3, conf: 1 },
        { word: 'two', start: 0.4, end: 0.6, conf: 0.5 },
      ],
    })
    line.say({ partial: '' })
    line.say({ text: '' })
    line.say({ partial: 'one two' })
    const heard = await call.results(4)
    expect(heard.map(({ result }) => [result.is_final, wordsOf(result)])).toEqual([
      [false, 'one'],
      [false, 'one two'],
      [true, 'one two'],
      [false, 'one two'],
    ])
    expect(heard[2]).toMatchObject({
      span: { startMs: 100, endMs: 600 },
      result: { alternatives: [{ confidence: 0.75 }] },
    })
  })

  it('is ended by the one text that it knows, and answers with the last words', async () => {
    const { call, line } = await open()
    await call.voice(100)
    let end: string | undefined
    line.socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) end = data.toString()
    })
    call.recogniser.close()
    await until('the end', () => end !== undefined)
    expect(end).toBe('{"eof" : 1}')
    line.say({ text: 'bye' })
    const startMs = performance.now()
    expect((await call.ended()).by).toBe('closed')
    expect(performance.now() - startMs).toBeLessThan(1400)
    expect(call.finals).toEqual(['bye'])
  })

  it('needs an address', async () => {
    const call = stage.call(vosk)
    expect(await call.ended()).toMatchObject({ by: 'failed', because: expect.stringContaining('address') })
  })
})
