// Repositories that are made when they are first asked for: there is one for each table, and a request needs two or three.
import { descriptors } from './descriptors.ts'
import type { Repositories, TableName } from './storage.ts'

/** `make` must answer the repository of the table it is given. */
export function createLazyRepositories(make: (table: TableName) => unknown): Repositories {
  return new LazyRepositories(make) as unknown as Repositories
}

class LazyRepositories {
  readonly #make: (table: TableName) => unknown
  readonly #made: Partial<Record<TableName, unknown>> = {}

  constructor(make: (table: TableName) => unknown) {
    this.#make = make
  }

  // On the prototype, once: to define them on each value would cost more than it saves.
  static {
    for (const table of Object.keys(descriptors) as TableName[])
      Object.defineProperty(this.prototype, table, {
        get(this: LazyRepositories) {
          return (this.#made[table] ??= this.#make(table))
        },
      })
  }
}
