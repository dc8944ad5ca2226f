CREATE TABLE "list_blocks" (
	"shop_id" text COLLATE "C" NOT NULL,
	"list" text COLLATE "C" NOT NULL,
	"last" text COLLATE "C" NOT NULL,
	"records" integer NOT NULL,
	CONSTRAINT "list_blocks_shop_id_list_last_pk" PRIMARY KEY("shop_id","list","last")
);
--> statement-breakpoint
ALTER TABLE "list_blocks" ADD CONSTRAINT "list_blocks_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "carts_begun" ON "carts" USING btree ("shop_id","created_at","status") WHERE draft is null;--> statement-breakpoint
CREATE INDEX "disputes_open" ON "disputes" USING btree ("shop_id","id") WHERE status = 'OPEN';