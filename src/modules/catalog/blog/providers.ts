import type { Deps } from '../../../core/deps.ts'
import { createBlogStore } from './store.ts'

export const blogProviders = ({ db }: Deps) => ({ blogStore: createBlogStore(db) })
export type BlogDeps = Deps & ReturnType<typeof blogProviders>
