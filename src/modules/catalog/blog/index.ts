export type { BlogDeps } from './providers.ts'
export { changeBlog, createBlog, listBlogs, readBlog, readPublicBlog, removeBlog, shopOfPublicBlog } from './service.ts'
