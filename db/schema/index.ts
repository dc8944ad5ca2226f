export * from './catalog.ts'
export * from './people.ts'
export * from './shop.ts'
