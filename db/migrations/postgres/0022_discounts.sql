CREATE TABLE "discount_uses" (
	"discount_id" text COLLATE "C" NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"customer" text COLLATE "C" NOT NULL,
	"mode" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "discount_uses_order_id_discount_id_pk" PRIMARY KEY("order_id","discount_id")
);
--> statement-breakpoint
CREATE TABLE "discounts" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"code" text COLLATE "C",
	"code_key" text COLLATE "C",
	"kind" text COLLATE "C" NOT NULL,
	"value_bps" integer,
	"amount" bigint,
	"min_subtotal" bigint,
	"currency" text COLLATE "C",
	"product_ids" text,
	"collection_ids" text,
	"starts_at" bigint,
	"ends_at" bigint,
	"usage_limit" integer,
	"per_customer_limit" integer,
	"status" text COLLATE "C" NOT NULL,
	"used" integer DEFAULT 0 NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"removed_at" bigint,
	"version" integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "carts" ADD COLUMN "discount_code" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "carts" ADD COLUMN "shown_discounts" text COLLATE "C" DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "order_lines" ADD COLUMN "discount" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "discounts" text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE "discount_uses" ADD CONSTRAINT "discount_uses_discount_id_discounts_id_fk" FOREIGN KEY ("discount_id") REFERENCES "public"."discounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "discounts" ADD CONSTRAINT "discounts_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "discount_uses_customer" ON "discount_uses" USING btree ("discount_id","mode","customer");--> statement-breakpoint
CREATE UNIQUE INDEX "discounts_code" ON "discounts" USING btree ("shop_id","code_key");--> statement-breakpoint
CREATE INDEX "discounts_shop" ON "discounts" USING btree ("shop_id","id") WHERE removed_at is null;--> statement-breakpoint
CREATE INDEX "discounts_automatic" ON "discounts" USING btree ("shop_id","id") WHERE code_key is null and status = 'ACTIVE' and removed_at is null;--> statement-breakpoint
CREATE INDEX "discounts_removed" ON "discounts" USING btree ("removed_at") WHERE removed_at is not null;