ALTER TABLE "product_documents" ADD COLUMN "vendor" text COLLATE "C" DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "product_documents" ADD COLUMN "type" text COLLATE "C" DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "product_documents" ADD COLUMN "available" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "shops" ADD COLUMN "show_quantity" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "shops" ADD COLUMN "pages" text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "variants" ADD COLUMN "requires_shipping" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "variants" ADD COLUMN "tax_class" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "variants" ADD COLUMN "low_stock_at" integer;--> statement-breakpoint
CREATE INDEX "product_documents_vendor" ON "product_documents" USING btree ("shop_id","vendor","newest_key","visible_from");--> statement-breakpoint
CREATE INDEX "product_documents_type" ON "product_documents" USING btree ("shop_id","type","newest_key","visible_from");--> statement-breakpoint
CREATE INDEX "product_documents_available" ON "product_documents" USING btree ("shop_id","available","newest_key","visible_from");--> statement-breakpoint
CREATE INDEX "variants_low" ON "variants" USING btree ("product_id") WHERE low_stock_at is not null and on_hand <= low_stock_at and track_inventory;--> statement-breakpoint
-- by hand: what lists are filtered by, and fields that documents gained. Within a text of JSON quotes are escaped, so that a name with its own stands only where it is one. Their marks change with them.
UPDATE product_documents SET
  vendor = (SELECT p.vendor FROM products p WHERE p.id = product_documents.product_id),
  type = (SELECT p.type FROM products p WHERE p.id = product_documents.product_id),
  available = EXISTS (SELECT 1 FROM variants v WHERE v.product_id = product_documents.product_id AND (not v.track_inventory or v.allow_backorder or v.on_hand > v.reserved)),
  document = replace(document, '"taxable":', '"requiresShipping":true,"taxClass":null,"taxable":'),
  etag = substr(etag, 1, length(etag) - 1) || '-s"';
