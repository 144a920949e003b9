import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestStorage, type TestStorage } from '../../../test/support/each-store.ts'
import { descriptorOf, descriptors } from './descriptors.ts'
import type { TableName } from './rows.ts'

let test: TestStorage
beforeAll(async () => {
  test = await openTestStorage()
})
afterAll(() => test.close())

const tables = Object.keys(descriptors) as TableName[]

describe.each(tables)('the descriptor of %s', (table) => {
  it('has the key of the table', async () => {
    const key = await test.query(`select name from pragma_table_info('${table}') where pk = 1`)
    expect(key).toEqual([{ name: descriptorOf(table).key }])
  })
})
