// The facts that descriptors repeat from the schema: each test compares the two.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestStorage } from '../../../test/support/each-store.ts'
import type { TestStorage } from '../../../test/support/each-store.ts'
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

  it('points at the rows that its foreign keys point at, its owners aside', async () => {
    const keys = await test.query(
      `select "from" as column, "table" from pragma_foreign_key_list('${table}')
       where "table" not in ('accounts', 'service_providers')`,
    )
    const byColumn = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
    const references = descriptorOf(table).references.map(({ column, table: target }) => ({
      column,
      table: target,
    }))
    expect(references.sort(byColumn)).toEqual(keys.sort(byColumn))
  })
})
