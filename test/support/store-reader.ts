// A connection to a test's store that only reads.

export interface StoreReader {
  query(sql: string): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}
