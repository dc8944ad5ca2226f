ALTER TABLE "products" ADD COLUMN "title_key" text COLLATE "C" DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "price_key" text COLLATE "C" DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE products SET
  title_key = coalesce((select d.title_key from product_documents d where d.product_id = products.id), lower(substr(title, 1, 80)) || chr(1) || substr(id, 6)),
  price_key = lpad((coalesce((select min(v.price) from variants v where v.product_id = products.id), 0))::text, 15, '0') || '.' || substr(id, 6);--> statement-breakpoint
CREATE INDEX "customers_name" ON "customers" USING btree ("shop_id",lower(case when "name" = '' then "email" else "name" end),"id");--> statement-breakpoint
CREATE INDEX "products_title" ON "products" USING btree ("shop_id","title_key","status","id");--> statement-breakpoint
CREATE INDEX "products_price" ON "products" USING btree ("shop_id","price_key","status","id");