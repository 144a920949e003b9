import { describe, expect, it } from 'vitest'
import { bytesField, fieldsOf, floatField, intField, messageOf, textField } from './protobuf.ts'

describe('messages of Protocol Buffers', () => {
  it('are encoded as the documentation of the format does', () => {
    expect(messageOf(intField(1, 150)).toString('hex')).toBe('089601')
    expect(messageOf(textField(2, 'testing')).toString('hex')).toBe('120774657374696e67')
    expect(messageOf(bytesField(3, messageOf(intField(1, 150)))).toString('hex')).toBe('1a03089601')
    expect(messageOf(undefined, intField(1, undefined))).toHaveLength(0)
  })

  it('are read with numbers of any size, and fields that are not known', () => {
    const message = messageOf(
      intField(1, 2 ** 40),
      floatField(2, 0.5),
      textField(500, 'zwölf'),
      textField(500, 'last'),
      Buffer.from([0x19, 1, 2, 3, 4, 5, 6, 7, 8]),
    )
    const fields = fieldsOf(message)
    expect([fields?.int(1), fields?.float(2), fields?.text(500)]).toEqual([2 ** 40, 0.5, 'last'])
    expect(fields?.messages(7)).toEqual([])
  })

  it.each([
    ['a length beyond the end', '1205'],
    ['a number without an end', '08ff'],
    ['a group', '0b'],
    ['a tag alone', '08'],
  ])('are not read with %s', (_, hex) => {
    expect(fieldsOf(Buffer.from(hex, 'hex'))).toBeUndefined()
  })
})
