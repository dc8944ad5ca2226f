export type { BlogDeps } from './parts.ts'
export { changeBlog, createBlog, listBlogs, readBlog, readPublicBlog, removeBlog, shopOfPublicBlog } from './service.ts'
