/** An import with `{ type: 'file' }` yields the path of the file, on disk or inside the compiled program. */
declare module 'swagger-ui-dist/*' {
  const path: string
  export default path
}
